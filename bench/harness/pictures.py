"""Bars as SVG and PNG: one picture for each group of questions, which a page of any colour can show."""
import html
import pathlib
import shutil
import subprocess

from harness import figures, questions

# A column of labels, then one of bars for each number of workers that is shown.
LABELS, ROOM, VALUES, GAP, MARGIN = 130, 230, 165, 20, 16
LINE, BAR, HEAD, TOP = 20, 13, 30, 62
PAPER, INK, QUIET_INK, OURS, THEIRS = "#ffffff", "#1f2328", "#59636e", "#0969da", "#9aa4af"
FONT = "font-family='DejaVu Sans, system-ui, sans-serif'"
WIDTH_LEAST = 760  # for the titles
COLUMNS_MOST = 2  # what other numbers of workers came to stands in tables


def text(x: float, y: float, what: str, ink: str = INK, size: int = 13, more: str = "") -> str:
    return (f"<text x='{x:.0f}' y='{y:.0f}' fill='{ink}' font-size='{size}' {FONT} {more}>"
            f"{html.escape(what)}</text>")


def is_ours(runtime: str) -> bool:
    return runtime.startswith(questions.OURS)


def value_text(row: figures.Row, ours: figures.Row | None) -> str:
    """With the ratio to us, where there is one: `482 ns/op (0.25)`."""
    plain = f"{figures.number(row.median)} {row.unit}"
    if ours is None or ours is row or not row.median:
        return plain
    return f"{plain} ({figures.ratio_to(ours, row):.2f})"


def bar(row: figures.Row, ours: figures.Row | None, most: float, x: float, y: float) -> list:
    length = max(1.0, ROOM * row.median / most) if most > 0 else 1.0
    weight = "font-weight='600'" if is_ours(row.runtime) else ""
    return [f"<rect class='bar' x='{x:.0f}' y='{y:.0f}' width='{length:.1f}' height='{BAR}' rx='2' "
            f"fill='{OURS if is_ours(row.runtime) else THEIRS}'/>",
            text(x + length + 6, y + BAR - 2, value_text(row, ours), INK, 12, weight)]


def column_x(column: int) -> float:
    return LABELS + column * (ROOM + VALUES + GAP)


def block(title: str, rows: list, columns: list, y: float) -> tuple:
    """The bars of one question, and where the next one begins."""
    better = "more is better" if rows[0].more_is_better else "less is better"
    shapes = [text(LABELS, y + 16, f"{title}: {rows[0].unit}, {better}", INK, 14, "font-weight='600'")]
    most = max(row.median for row in rows)
    names = list(dict.fromkeys(row.runtime for row in rows))
    at = y + HEAD - 4
    for name in names:
        weight = "font-weight='600'" if is_ours(name) else ""
        shapes.append(text(LABELS - 10, at + BAR - 2, name, INK, 13, f"text-anchor='end' {weight}"))
        for row in (one for one in rows if one.runtime == name):
            ours = figures.of(rows, questions.OURS, row.workers)
            shapes += bar(row, ours, most, column_x(columns.index(row.workers)), at)
        at += LINE
    return shapes, at + 12


def picture(title: str, blocks: list) -> str:
    """`blocks`: pairs of a title and its rows, of at most two numbers of workers."""
    columns = sorted({row.workers for _, rows in blocks for row in rows})
    width = max(WIDTH_LEAST, column_x(len(columns)) - GAP + MARGIN)
    shapes = [text(MARGIN, 26, title, INK, 18, "font-weight='700'"),
              text(width - MARGIN, 26, f"medians; in brackets: {questions.OURS} / it", QUIET_INK, 12,
                   "text-anchor='end'")]
    shapes += [text(column_x(at), TOP - 10, figures.workers_text(workers), QUIET_INK, 13)
               for at, workers in enumerate(columns)]
    y = TOP
    for name, rows in blocks:
        more, y = block(name, rows, columns, y)
        shapes += more
    body = "\n".join(shapes)
    return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {y:.0f}' "
            f"width='{width:.0f}' height='{y:.0f}' role='img' aria-label='{html.escape(title)}'>\n"
            f"<rect width='100%' height='100%' fill='{PAPER}'/>\n{body}\n</svg>\n")


def shown_workers(rows: list, processors: int) -> list:
    """One, and as many as there are processors; or what comes next to that."""
    asked = sorted({row.workers for row in rows})
    fitting = [one for one in asked if one <= processors] or asked[:1]
    return sorted({fitting[0], fitting[-1]})[:COLUMNS_MOST]


def groups_of(rows: list, processors: int) -> dict:
    """Group of questions -> pairs of a title and its rows."""
    shown = shown_workers(rows, processors)
    found = {}
    for question in questions.QUESTIONS:
        mine = [row for row in rows if row.bench == question.name and row.workers in shown]
        if mine:
            found.setdefault(question.group, []).append((question.title, mine))
    return found


def draw(rows: list, directory: pathlib.Path, processors: int) -> list:
    """One picture for each group, as SVG and PNG. Gives the paths that were written."""
    return [path for svg in draw_svg(rows, directory, processors) for path in (svg, *to_png(svg))]


def draw_svg(rows: list, directory: pathlib.Path, processors: int) -> list:
    written = []
    for group, blocks in groups_of(rows, processors).items() if rows else ():
        written.append(directory / f"{group}.svg")
        written[-1].write_text(picture(group.capitalize(), blocks), encoding="utf-8")
    return written


def to_png(svg: pathlib.Path) -> list:
    if shutil.which("rsvg-convert") is None:
        return []
    png = svg.with_suffix(".png")
    subprocess.run(["rsvg-convert", "-z", "2", "-o", png, svg], check=True)
    return [png]
