"""Makes the two fonts of the window from their releases:

    python3 assets/fonts/subset.py InterVariable.woff2 Phosphor.ttf Phosphor-Fill.ttf

Inter 4.1 (variable, rsms/inter) keeps weights from 400 to 600, tabular figures as its only ones, and Latin, Greek and Cyrillic.
Phosphor 2.1 (phosphor-icons) keeps the icons that `src/window/style/icons.rs` names. Needs fonttools and brotli.
"""

import re
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

HERE = Path(__file__).parent
inter, phosphor, filled = sys.argv[1:]

font = instancer.instantiateVariableFont(TTFont(inter, recalcTimestamp=False), {"opsz": 14, "wght": (400, 400, 600)})
tabular = {}
for record in font["GSUB"].table.FeatureList.FeatureRecord:
    if record.FeatureTag == "tnum":
        for index in record.Feature.LookupListIndex:
            for table in font["GSUB"].table.LookupList.Lookup[index].SubTable:
                tabular.update(getattr(table, "ExtSubTable", table).mapping)
for table in font["cmap"].tables:
    for digit in map(ord, "0123456789"):
        if digit in table.cmap:
            table.cmap[digit] = tabular.get(table.cmap[digit], table.cmap[digit])
whole = HERE / "Inter.ttf"
font.flavor = None
font.save(whole)

characters = set(range(0x20, 0x7F)) | set(range(0xA0, 0x180)) | set(range(0x2B0, 0x2DE)) | set(range(0x300, 0x310))
characters |= set(range(0x370, 0x460)) | set(range(0x1D40, 0x1D60)) | set(range(0x2000, 0x20A0)) | {0x20AC, 0x2122, 0x2E3}
characters |= set(range(0x2190, 0x2600)) | {0x2713, 0x2717, 0xFFFD}


def write(font, path, characters, features):
    options = subset.Options(layout_features=features, drop_tables=["DSIG", "STAT", "meta"], glyph_names=False, notdef_outline=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    font.save(path)


write(TTFont(whole, recalcTimestamp=False), whole, characters, ["kern", "ccmp", "locl", "mark", "mkmk"])

source = (HERE / "../../src/window/style/icons.rs").read_text()
icons = {int(code, 16) for code in re.findall(r"u\{(e[0-9a-f]{3})\}", source)}
font = TTFont(phosphor, recalcTimestamp=False)
# The star of a favorite is filled, which only Phosphor's other font is; it takes the place of the plain star's neighbor.
STAR, FILLED_STAR = 0xE46A, 0xF46A
star = font.getBestCmap()[STAR]
font["glyf"]["star-filled"] = TTFont(filled)["glyf"][TTFont(filled).getBestCmap()[STAR]]
font["hmtx"]["star-filled"] = font["hmtx"][star]
for table in font["cmap"].tables:
    table.cmap[FILLED_STAR] = "star-filled"
write(font, HERE / "Phosphor.ttf", icons | {FILLED_STAR}, [])
