"""A pile of books: how deep do contacts at the bottom sink under the law that sees the inertia of one book?"""
from .frame import shared

NAME = "books"
ORDER = 37
TITLE = "A pile of books"
PAPER = "castro2021"
SHOWN = "section V-B and its discussion"
ABOUT = ("Ten boxes lie on each other. The stiffness of a near-rigid contact follows from the inertia that it meets, that of one or two boxes, and so does "
         "not know the load. How much deeper does the lowest contact sink than the highest one? And with the option `carried`, ours, which "
         "makes a contact stiffer that carries more than its bodies?")
SECONDS = (2, 2)

COUNT, SIZE = 10, 0.2  # boxes of scenes/contact/stack.json; m
MANY = 100             # a factor that no contact reaches


def overlaps(context, *words):
    """Of the contact under each box at the end, m."""
    record = context.run("contact/stack", "--solver", shared.SAP, "--set", 'record/signals=["coordinates"]', "--every", 100, *words)
    tops = [SIZE / 2, *(SIZE for _ in range(COUNT - 1))]
    heights = [record[f"b{k}_box.z"][-1] for k in range(COUNT)]
    return [far - (high - low) for far, low, high in zip(tops, [0, *heights], heights)]


def run(context):
    plain, loaded = overlaps(context), overlaps(context, "--set", f"world/law/carried={MANY}")
    context.figure("lowest_over_highest", plain[0] / plain[-1])
    context.figure("carried", loaded[0] / loaded[-1])
    context.table("Overlaps after 5 s", ["box, from below", "near-rigid [um]", "`carried` [um]"], [
        [k, 1e6 * a, 1e6 * b] for k, (a, b) in enumerate(zip(plain, loaded), 1)])
