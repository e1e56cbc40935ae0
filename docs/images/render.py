#!/usr/bin/env python3
"""Draws what a real terminal shows as a PNG: the pictures of the README and the guide.

    tmux capture-pane -p -e | docs/images/render.py out.png [--light]

Needs Pillow and the DejaVu Sans Mono font. It reads text with SGR sequences, as tmux prints it.
"""

import re
import sys
import unicodedata

from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono{}.ttf"
SIZE = 15
DARK = {"back": "#15181e", "fore": "#d5d8de", "named": [
    "#15181e", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
    "#6b7280", "#ff7b86", "#b5e08d", "#ffd68a", "#7cc4ff", "#de92f5", "#6fd3df", "#ffffff"]}
LIGHT = {"back": "#ffffff", "fore": "#24292f", "named": [
    "#24292f", "#b3261e", "#116329", "#7d4e00", "#0550ae", "#8250df", "#0b6b74", "#57606a",
    "#6e7781", "#cf222e", "#1a7f37", "#9a6700", "#0969da", "#a475f9", "#1b7c83", "#8c959f"]}


def indexed(number, theme):
    if number < 16:
        return theme["named"][number]
    if number < 232:
        number -= 16
        levels = [0, 95, 135, 175, 215, 255]
        return "#%02x%02x%02x" % (levels[number // 36], levels[number // 6 % 6], levels[number % 6])
    grey = 8 + (number - 232) * 10
    return "#%02x%02x%02x" % (grey, grey, grey)


def restyle(style, codes, theme):
    codes = [int(code or 0) for code in codes.split(";")] if codes else [0]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style.clear()
        elif code in (1, 2, 3, 4, 7):
            style[{1: "bold", 2: "dim", 3: "italic", 4: "line", 7: "reverse"}[code]] = True
        elif code == 22:
            style.pop("bold", None), style.pop("dim", None)
        elif code in (23, 24, 27):
            style.pop({23: "italic", 24: "line", 27: "reverse"}[code], None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style["fore"] = theme["named"][code - 30 if code < 90 else code - 82]
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style["back"] = theme["named"][code - 40 if code < 100 else code - 92]
        elif code in (38, 48):
            place = "fore" if code == 38 else "back"
            if codes.pop(0) == 5:
                style[place] = indexed(codes.pop(0), theme)
            else:
                style[place] = "#%02x%02x%02x" % (codes.pop(0), codes.pop(0), codes.pop(0))
        elif code in (39, 49):
            style.pop("fore" if code == 39 else "back", None)


def cells(line, style, theme):
    at = 0
    for match in re.finditer(r"\x1b\[([0-9;:]*)m|\x1b\][^\x1b\x07]*(?:\x07|\x1b\\)|\x1b\(.|[\x0e\x0f]|(.)", line):
        if match.group(2) is not None:
            char = match.group(2)
            wide = unicodedata.east_asian_width(char) in "WF"
            yield at, char, dict(style)
            at += 2 if wide else 0 if unicodedata.combining(char) else 1
        elif match.group(1) is not None:
            restyle(style, match.group(1).replace(":", ";"), theme)


def mixed(colour, back):
    parts = [(int(colour[i:i + 2], 16) * 3 + int(back[i:i + 2], 16) * 2) // 5 for i in (1, 3, 5)]
    return "#%02x%02x%02x" % tuple(parts)


def main():
    theme = LIGHT if "--light" in sys.argv else DARK
    lines = sys.stdin.read().rstrip("\n").split("\n")
    plain, bold = (ImageFont.truetype(FONTS.format(kind), SIZE) for kind in ("", "-Bold"))
    width, height = round(plain.getlength("M")), SIZE + 4
    columns = max(max((at + 1 for at, _, _ in cells(line, {}, theme)), default=1) for line in lines)
    image = Image.new("RGB", (columns * width + 24, len(lines) * height + 24), theme["back"])
    draw = ImageDraw.Draw(image)
    style = {}
    for row, line in enumerate(lines):
        for at, char, own in cells(line, style, theme):
            fore, back = own.get("fore", theme["fore"]), own.get("back", theme["back"])
            if own.get("dim"):
                fore = mixed(fore, back)
            if own.get("reverse"):
                fore, back = back, fore
            x, y = 12 + at * width, 12 + row * height
            if back != theme["back"]:
                draw.rectangle([x, y, x + width - 1, y + height - 1], fill=back)
            if char != " ":
                draw.text((x, y), char, font=bold if own.get("bold") else plain, fill=fore)
            if own.get("line"):
                draw.line([x, y + height - 2, x + width, y + height - 2], fill=fore)
    image.save(next(name for name in sys.argv[1:] if name.endswith(".png")), optimize=True)


if __name__ == "__main__":
    main()
