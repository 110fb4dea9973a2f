import base64
import io

import numpy as np
import pytest

from dsofs.report.images import BLUE, ORANGE, diverging_image, grey_image

Image = pytest.importorskip("PIL.Image")


def decode(uri):
    kind, data = uri.split(",")
    assert kind == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


def test_another_reader_sees_the_same_greys():
    rows = np.random.default_rng(0).integers(0, 256, (5, 7))
    assert np.array_equal(np.asarray(decode(grey_image(rows.tolist()))), rows)


def test_colours_diverge_from_nothing():
    pixels = np.asarray(decode(diverging_image([[-127, 0, 127], [-64, 1, 64]])).convert("RGBA"))
    assert tuple(pixels[0, 0]) == (*BLUE, 255)
    assert pixels[0, 1, 3] == 0
    assert tuple(pixels[0, 2]) == (*ORANGE, 255)
    assert pixels[1, 0, 3] == pixels[1, 2, 3] == 129
