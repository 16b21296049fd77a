"""Bars as SVG, without a background and in colours that are legible on light and dark pages."""
import html
import pathlib
import shutil
import subprocess

from harness import figures, questions

WIDTH, LABELS, VALUES = 760, 130, 170
LINE, BAR, HEAD, TOP = 20, 13, 30, 44
INK, QUIET_INK, OURS, THEIRS = "#7d8590", "#8b949e", "#2f81f7", "#8b949e"
FONT = "font-family='system-ui, sans-serif'"


def text(x: float, y: float, what: str, ink: str = INK, size: int = 13, more: str = "") -> str:
    return (f"<text x='{x:.0f}' y='{y:.0f}' fill='{ink}' font-size='{size}' {FONT} {more}>"
            f"{html.escape(what)}</text>")


def bar(row: figures.Row, most: float, y: float) -> list:
    ours = row.runtime.startswith(questions.OURS)
    room = WIDTH - LABELS - VALUES
    length = max(1.0, room * row.median / most) if most > 0 else 1.0
    weight = "font-weight='600'" if ours else ""
    return [text(LABELS - 10, y + BAR - 2, row.runtime, INK, 13, f"text-anchor='end' {weight}"),
            f"<rect x='{LABELS}' y='{y:.0f}' width='{length:.1f}' height='{BAR}' rx='2' "
            f"fill='{OURS if ours else THEIRS}' fill-opacity='{1 if ours else 0.6}'/>",
            text(LABELS + length + 8, y + BAR - 2, f"{figures.number(row.median)} {row.unit}", INK, 12,
                 weight)]


def block(title: str, rows: list, y: float) -> tuple:
    """The bars of one question, and where the next one begins."""
    better = "more is better" if rows[0].more_is_better else "less is better"
    shapes = [text(LABELS, y + 16, title, INK, 14, "font-weight='600'"),
              text(WIDTH - 4, y + 16, better, QUIET_INK, 11, "text-anchor='end'")]
    most = max(row.median for row in rows)
    at = y + HEAD - 4
    for row in rows:
        shapes += bar(row, most, at)
        at += LINE
    return shapes, at + 12


def picture(title: str, blocks: list) -> str:
    """`blocks`: pairs of a title and its rows."""
    shapes, y = [text(4, 22, title, INK, 17, "font-weight='700'")], TOP
    for name, rows in blocks:
        more, y = block(name, rows, y)
        shapes += more
    body = "\n".join(shapes)
    return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {y:.0f}' "
            f"width='{WIDTH}' height='{y:.0f}' role='img' aria-label='{html.escape(title)}'>\n"
            f"{body}\n</svg>\n")


def groups_of(rows: list, workers: int) -> dict:
    """Group of questions -> pairs of a title and its rows."""
    known = {one.name: one for one in questions.QUESTIONS}
    found = {}
    for name, question in known.items():
        mine = [row for row in rows if row.bench == name and row.workers == workers]
        if mine:
            found.setdefault(question.group, []).append((question.title, mine))
    return found


def draw(rows: list, directory: pathlib.Path) -> list:
    """One picture for each group and number of workers. Gives the paths that were written."""
    written = []
    for workers in sorted({row.workers for row in rows}):
        for group, blocks in groups_of(rows, workers).items():
            path = directory / f"{group}_{workers}.svg"
            title = f"{group.capitalize()}, {workers} worker{'s'[:workers > 1]}"
            path.write_text(picture(title, blocks), encoding="utf-8")
            written += [path] + to_png(path)
    return written


def to_png(svg: pathlib.Path) -> list:
    if shutil.which("rsvg-convert") is None:
        return []
    png = svg.with_suffix(".png")
    subprocess.run(["rsvg-convert", "-z", "2", "-o", png, svg], check=True)
    return [png]
