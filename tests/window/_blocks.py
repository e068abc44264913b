import json, os, sys, tempfile, time
from driver import Program, smooth, wait
path, folder = sys.argv[1:3]
theme = sys.argv[3] if len(sys.argv) > 3 else "light"
size = [int(p) for p in (sys.argv[4] if len(sys.argv) > 4 else "1280x800").split("x")]
os.makedirs(folder, exist_ok=True)
home = tempfile.mkdtemp(prefix="inkling-look-")
json.dump({"theme": theme, "wizard_done": True, "window": {"position": None, "size": size, "maximized": False}}, open(os.path.join(home, "settings.json"), "w"))
def picture(program, name):
    program.pointer(2, 2); time.sleep(0.8)
    program.screenshot(os.path.join(folder, name + ".png")); print(name, flush=True)
def cards(program):
    return [n for n in program.nodes() if n.role in ("push button", "button") and n.text.startswith("Layer ") or "Layer " in (getattr(n, "value", "") or "")]
with Program(path, home=home) as program:
    program.wait_for_window()
    program.find("No run yet") if size[0] > 1000 else time.sleep(2)
    time.sleep(1)
    program.pointer(size[0] * 0.5, size[1] * 0.6)
    program.scroll(20) if hasattr(program, "scroll") else None
    time.sleep(1)
    picture(program, "blocks-1")
    for n in program.nodes():
        if n.name in ("Convolution", "Max pooling", "Dense layer", "Image", "Verdict"): print(n.role, n.name, n.text, n.box)
