"""Holds the reader of SDFormat against a second implementation that reads the XML itself.  Prints TAP.

    sdf_oracle.py PROGRAM FILE.sdf...      PROGRAM: print_dynamics

Places of frames by recursion over the file, then the dynamics of urdf_oracle.py at random states, to 1e-12.
"""
import sys
import subprocess
import xml.etree.ElementTree as XML

import numpy as np

from urdf_oracle import TOLERANCE, Joint, Robot, compare, rotation_about, rotation_of_quaternion, rotation_of_rpy


def vector(text):
    return np.array([float(x) for x in text.split()])


def matrix(p, R):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def read_pose(pose):
    if pose is None or not (pose.text or "").strip():
        return np.eye(4)
    x = vector(pose.text)
    if pose.get("rotation_format") == "quat_xyzw":
        q = x[[6, 3, 4, 5]]
        return matrix(x[:3], rotation_of_quaternion(q / np.linalg.norm(q)))
    unit = np.pi / 180 if pose.get("degrees") == "true" else 1
    return matrix(x[:3], rotation_of_rpy(unit * x[3:]))


class Motion(Joint):
    def __init__(self, kind, parent, X, axis=None, pitch=0):
        super().__init__(kind, parent, (X[:3, 3], X[:3, :3]), np.zeros(3) if axis is None else axis)
        self.pitch = pitch

    def motion(self, q):
        if self.kind == "ball":
            R = rotation_of_quaternion(q)
            return np.zeros(3), R, [(np.zeros(3), R[:, k]) for k in range(3)]
        if self.kind == "screw":
            n = self.axis / np.linalg.norm(self.axis)
            rise = self.pitch / (2 * np.pi) * n
            return q[0] * rise, rotation_about(n, q[0]), [(rise, n)]
        return super().motion(q)


class Model:
    """A <model>, or the <world>: names of its elements to functions of their places in the world."""

    def __init__(self, at, outer, path):
        self.at, self.outer, self.path, self.elements = at, outer, path, {}
        for e in at:
            if e.tag in ("link", "joint", "frame"):
                self.elements[e.get("name")] = e
            elif e.tag == "model":
                self.elements[e.get("name")] = Model(e, self, path + e.get("name") + "::")

    def find(self, name):
        first, _, rest = name.partition("::")
        found = self.elements[first]
        return found.find(rest) if rest else (self, found)

    def own(self):
        """The place of its own frame."""
        if self.outer is None:
            return np.eye(4)
        pose = self.at.find("pose")
        from_ = pose.get("relative_to") if pose is not None else None
        X = (self.outer.place(from_) if from_ else self.outer.own()) @ read_pose(pose)
        placed = self.at.get("placement_frame")
        return X @ np.linalg.inv(self.seen(placed)) if placed else X

    def seen(self, name):
        """The place of a frame in the model."""
        scope, e = self.find(name)
        if isinstance(e, Model):
            return np.linalg.inv(self.own()) @ e.own()
        pose = e.find("pose")
        from_ = pose.get("relative_to") if pose is not None else None
        from_ = from_ or (e.find("child").text if e.tag == "joint" else e.get("attached_to") if e.tag == "frame" else None)
        X = read_pose(pose)
        if from_ and from_ != "__model__":
            X = scope.seen(from_) @ X
        if scope is not self:
            X = np.linalg.inv(self.own()) @ scope.own() @ X
        return X

    def place(self, name):
        if name in ("world", "__model__"):
            return np.eye(4) if name == "world" else self.own()
        return self.own() @ self.seen(name)

    def link(self, name):
        """The name of the link with which a frame moves; None: the world."""
        if name == "world":
            return None
        scope, e = self.find(name)
        if isinstance(e, Model):
            return e.link(next(n for n, x in e.elements.items() if not isinstance(x, Model) and x.tag == "link"))
        if e.tag == "link":
            return scope.path + e.get("name")
        return scope.link(e.find("child").text if e.tag == "joint" else e.get("attached_to"))

    def all(self):
        yield self
        for e in self.elements.values():
            if isinstance(e, Model):
                yield from e.all()


class SdfRobot(Robot):
    def __init__(self, path):
        root = XML.parse(path).getroot()
        world = root.find("world")
        if world is None:
            world = root
        top = Model(world, None, "")
        if world is root:
            next(e for e in top.elements.values()).path = ""
        self.links, self.joints, self.places, joints = {}, {}, {}, []
        for model in top.all():
            for name, e in model.elements.items():
                if not isinstance(e, Model) and e.tag == "link":
                    self.add_link(model, name, e)
                elif not isinstance(e, Model) and e.tag == "joint":
                    joints.append((model, e))
        for model, e in joints:
            self.add_joint(model, e)
        for model in top.all():
            static = model.at.find("static")
            for name in [model.path + n for n, e in model.elements.items() if not isinstance(e, Model) and e.tag == "link"]:
                if name not in self.joints:
                    held = static is not None and static.text == "true"
                    self.joints[name] = Motion("fixed", "world", self.places[name]) if held else Motion("floating", "world", np.eye(4))
        self.order, waiting = [], ["world"]
        while waiting:
            name = waiting.pop()
            self.order.append(name)
            waiting += [child for child, joint in self.joints.items() if joint.parent == name]

    def add_link(self, model, name, e):
        inertial, J = e.find("inertial"), np.zeros((3, 3))
        mass, X = 0, np.eye(4)
        if inertial is not None:
            mass, X = float(inertial.findtext("mass", "1")), read_pose(inertial.find("pose"))
            get = lambda i, j: float(inertial.findtext("inertia/i" + "xyz"[min(i, j)] + "xyz"[max(i, j)], str(float(i == j))))
            J = np.array([[get(i, j) for j in range(3)] for i in range(3)])
        R = X[:3, :3]
        self.links[model.path + name] = (mass, X[:3, 3], R @ J @ R.T)
        self.places[model.path + name] = model.place(name)

    def add_joint(self, model, e):
        kind, name = e.get("type"), model.path + e.get("name")
        parent, child = model.link(e.findtext("parent")), model.link(e.findtext("child"))
        X, here = self.places[child], model.place(e.get("name"))
        carrier = self.places[parent] if parent else np.eye(4)
        turn = X[:3, :3]

        def axis(tag):
            xyz = e.find(tag + "/xyz")
            seen = xyz.get("expressed_in")
            R = (model.place(seen) if seen else here)[:3, :3]
            return turn.T @ R @ vector(xyz.text)

        # the place of the joint, parallel to the child
        point = X if kind in ("prismatic", "fixed") else matrix(here[:3, 3], turn)
        beside = np.linalg.inv(X) @ point
        at = np.linalg.inv(carrier) @ point
        parent = parent or "world"
        nothing = (0, np.zeros(3), np.zeros((3, 3)))
        if kind in ("universal", "revolute2"):
            self.links[name] = nothing
            self.joints[name] = Motion("revolute", parent, at, axis("axis"))
            parent, at, name, last = name, np.eye(4), name + "_axis2", axis("axis2")
        else:
            last = axis("axis") if e.find("axis") is not None else None
        shape = "revolute" if kind in ("universal", "revolute2") else kind
        moved = Motion(shape, parent, at, last, float(e.findtext("screw_thread_pitch", "0")))
        if np.linalg.norm(beside[:3, 3]) > 1e-9:
            self.links[name] = nothing
            self.joints[name] = moved
            self.joints[child] = Motion("fixed", name, np.linalg.inv(beside))
        else:
            self.joints[child] = moved


def main():
    program, files = sys.argv[1], sys.argv[2:]
    print(f"1..{len(files)}")
    for k, path in enumerate(files, 1):
        try:
            difference, nv = compare(program, path, "fixed", SdfRobot(path))
            good, note = difference <= TOLERANCE, f"{nv} dofs, worst difference {difference:.1e}"
        except subprocess.CalledProcessError as error:
            good, note = False, error.stderr.strip()
        print(f"{'ok' if good else 'not ok'} {k} - {path.split('/')[-1]}: {note}")


main()
