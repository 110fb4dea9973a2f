import base64
import io
import re
from dataclasses import replace

import numpy as np
import pytest

from dsofs.report.images import BLUE, LEFT, ORANGE, diverging_image, grey_image, heatmap_picture
from tests.report.examples import ordinary

Image = pytest.importorskip("PIL.Image")

DIGIT = 7.5  # width in pixels, in the font of most browsers


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


def test_names_of_the_heat_map_begin_within_the_picture():
    long = [replace(feature, name="ENSG00000100000.0|a very long name") for feature in ordinary().chosen]
    svg = str(heatmap_picture(replace(ordinary(), chosen=long)))
    shown = re.findall(r"ENSG[^<]*", svg)
    assert len(shown) == len(long)
    assert max(map(len, shown)) * DIGIT < LEFT
