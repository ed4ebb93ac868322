"""Holds the reader of URDF against a second implementation that reads the XML itself.  Prints TAP.

    urdf_oracle.py PROGRAM FILE.urdf...      PROGRAM: print_dynamics

Poses, mass matrix and bias forces at random states, to 1e-12 of the greatest element:

    T_child = T_parent T(origin) T(q)
    M       = sum m J_c' J_c + J_w' I J_w          J_c, J_w: Jacobians of the centre of mass and of the rotation
    bias    = sum J_c' m (a_c - g) + J_w' (I alpha + w x I w)      with accelerations at q'' = 0
"""
import subprocess
import sys
import xml.etree.ElementTree as XML

import numpy as np

GRAVITY = np.array([0, 0, -9.81])
TOLERANCE = 1e-12
STATES = 20


def numbers(element, key, default):
    value = element.get(key) if element is not None else None
    return np.array([float(x) for x in (value or default).split()])


def rotation_about(axis, angle):
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def rotation_of_rpy(rpy):
    ex, ey, ez = np.eye(3)
    return rotation_about(ez, rpy[2]) @ rotation_about(ey, rpy[1]) @ rotation_about(ex, rpy[0])


def rotation_of_quaternion(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def place(origin):
    return numbers(origin, "xyz", "0 0 0"), rotation_of_rpy(numbers(origin, "rpy", "0 0 0"))


class Joint:
    def __init__(self, kind, parent, origin, axis):
        self.kind, self.parent, self.origin, self.axis = kind, parent, origin, axis

    def motion(self, q):
        """Position and rotation, and columns (linear, angular) in the joint frame."""
        n = self.axis / (np.linalg.norm(self.axis) or 1)
        zero = np.zeros(3)
        if self.kind in ("revolute", "continuous"):
            return zero, rotation_about(n, q[0]), [(zero, n)]
        if self.kind == "prismatic":
            return q[0] * n, np.eye(3), [(n, zero)]
        if self.kind == "planar":
            a = np.eye(3)[0 if abs(n[0]) < 0.9 else 1]
            a = a - (a @ n) * n
            a /= np.linalg.norm(a)
            b = np.cross(n, a)
            return q[0] * a + q[1] * b, rotation_about(n, q[2]), [(a, zero), (b, zero), (zero, n)]
        if self.kind == "floating":
            R = rotation_of_quaternion(q[3:7])
            return q[:3], R, [(e, zero) for e in np.eye(3)] + [(zero, R[:, k]) for k in range(3)]
        return zero, np.eye(3), []


class Robot:
    def __init__(self, path, base):
        root = XML.parse(path).getroot()
        self.links, self.joints = {}, {}
        for link in root.findall("link"):
            inertial = link.find("inertial")
            mass = float(inertial.find("mass").get("value")) if inertial is not None else 0
            com, R = place(inertial.find("origin") if inertial is not None else None)
            J = np.zeros((3, 3))
            if mass:
                m = inertial.find("inertia")
                get = lambda key: float(m.get(key, "0"))
                J = np.array([[get("ixx"), get("ixy"), get("ixz")], [get("ixy"), get("iyy"), get("iyz")],
                              [get("ixz"), get("iyz"), get("izz")]])
            self.links[link.get("name")] = (mass, com, R @ J @ R.T)
        for joint in root.findall("joint"):
            kind, child = joint.get("type"), joint.find("child").get("link")
            origin = place(None) if kind == "floating" else place(joint.find("origin"))
            self.joints[child] = Joint(kind, joint.find("parent").get("link"), origin,
                                       numbers(joint.find("axis"), "xyz", "1 0 0"))
        self.root = next(name for name in list(self.links) + ["world"] if name not in self.joints)
        if self.root != "world":
            kind = {"fixed": "fixed", "free": "floating", "planar": "planar"}[base]
            self.joints[self.root] = Joint(kind, "world", place(None), np.array([0, 0, 1.0]))
        self.order = []
        waiting = ["world"] if "world" not in self.links or self.root == "world" else []
        while waiting:
            name = waiting.pop()
            self.order.append(name)
            waiting += [child for child, joint in self.joints.items() if joint.parent == name]

    def dynamics(self, body, q, v):
        """Poses, mass matrix, bias."""
        nv = len(v)
        state = {"world": (np.zeros(3), np.eye(3), np.zeros((3, nv)), np.zeros((3, nv)), *np.zeros((4, 3)))}
        M, bias, poses = np.zeros((nv, nv)), np.zeros(nv), {}
        for name in self.order:
            if name in self.joints:
                joint = self.joints[name]
                q0, nq, v0, n = body[name] if name in body else (0, 0, 0, 0)
                state[name] = self.carry(state[joint.parent], joint, q[q0:q0 + nq], v[v0:v0 + n], v0)
            if name == "world":
                continue
            p, R, Jo, Jw, vel, w, acc, alpha = state[name]
            poses[name] = np.concatenate([p, R.T.flatten()])
            mass, com, J = self.links[name]
            c = R @ com
            Jc = Jo + np.cross(Jw.T, c).T
            I = R @ J @ R.T
            ac = acc + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
            M += mass * Jc.T @ Jc + Jw.T @ I @ Jw
            bias += Jc.T @ (mass * (ac - GRAVITY)) + Jw.T @ (I @ alpha + np.cross(w, I @ w))
        return poses, M, bias

    @staticmethod
    def carry(parent, joint, q, v, v0):
        p, R, Jo, Jw, vel, w, acc, alpha = parent
        offset, turn = joint.origin
        slide, spin, columns = joint.motion(q)
        F = R @ turn
        r = R @ offset + F @ slide
        linear = sum((F @ lin * x for (lin, _), x in zip(columns, v)), np.zeros(3))
        angular = sum((F @ ang * x for (_, ang), x in zip(columns, v)), np.zeros(3))
        Jo, Jw = Jo + np.cross(Jw.T, r).T, Jw.copy()
        for k, (lin, ang) in enumerate(columns):
            Jo[:, v0 + k] += F @ lin
            Jw[:, v0 + k] += F @ ang
        return (p + r, F @ spin, Jo, Jw, vel + np.cross(w, r) + linear, w + angular,
                acc + np.cross(alpha, r) + np.cross(w, np.cross(w, r)) + 2 * np.cross(w, linear),
                alpha + np.cross(w, angular))


def worst(a, b):
    scale = max(np.abs(b).max(initial=0), 1e-300)
    return np.abs(a - b).max(initial=0) / scale


def compare(program, path, base, robot):
    """The worst relative difference, and the number of dofs."""
    out = subprocess.run([program, path, base, str(STATES)], capture_output=True, text=True, check=True).stdout
    body, differences, nv = {}, [0.0], 0
    q = v = None
    rows, poses = [], {}
    for line in out.splitlines():
        word, *rest = line.split()
        if word == "body":
            body[rest[0]] = tuple(int(x) for x in rest[1:5])
            differences.append(abs(float(rest[5]) - robot.links[rest[0]][0]))
            nv += body[rest[0]][3]
        elif word == "q":
            q, rows, poses = [float(x) for x in rest], [], {}
        elif word == "v":
            v = [float(x) for x in rest]
        elif word == "pose":
            poses[rest[0]] = np.array([float(x) for x in rest[1:]])
        elif word == "mass":
            rows.append([float(x) for x in rest])
        elif word == "bias":
            expected = robot.dynamics(body, np.array(q), np.array(v))
            differences += [worst(pose, expected[0][name]) for name, pose in poses.items()]
            differences += [worst(np.array(rows), expected[1]), worst(np.array([float(x) for x in rest]), expected[2])]
    return max(differences), nv


def main():
    program, files = sys.argv[1], sys.argv[2:]
    cases = [(path, base) for path in files for base in ("fixed", "free", "planar")]
    print(f"1..{len(cases)}")
    for k, (path, base) in enumerate(cases, 1):
        try:
            difference, nv = compare(program, path, base, Robot(path, base))
            good, note = difference <= TOLERANCE, f"{nv} dofs, worst difference {difference:.1e}"
        except subprocess.CalledProcessError as error:
            good, note = False, error.stderr.strip()
        print(f"{'ok' if good else 'not ok'} {k} - {path.split('/')[-1]} {base}: {note}")


if __name__ == "__main__":
    main()
