"""Digits as MNIST has them."""
import numpy as np
from PIL import Image, ImageDraw, ImageFont


def digit(label, random):
    """A digit in MNIST's frame: 20 pixels long, centered by mass, so that Inkling reads the file as it is."""
    while True:
        image = Image.new("L", (96, 96))
        ImageDraw.Draw(image).text((30, 16), str(label), fill=255, font=ImageFont.load_default(size=int(random.integers(44, 60))))
        image = image.rotate(random.uniform(-18, 18), resample=Image.Resampling.BILINEAR)
        image = image.crop(image.getbbox())
        scale = 20 / max(image.size)
        image = image.resize([max(1, round(length * scale)) for length in image.size], Image.Resampling.BOX)
        ink = np.asarray(image, dtype=np.float32)
        ink = np.where(ink < 40, 0, ink)
        (height, width), mass = ink.shape, ink.sum()
        top, left = round(14 - (ink.sum(1) @ np.arange(height)) / mass), round(14 - (ink.sum(0) @ np.arange(width)) / mass)
        if 0 <= top <= 28 - height and 0 <= left <= 28 - width:
            picture = np.zeros((28, 28), np.uint8)
            picture[top:top + height, left:left + width] = ink
            return picture
