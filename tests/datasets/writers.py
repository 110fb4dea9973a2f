"""Small files in the formats that the data sets were published in."""

import io
import struct
import tarfile
import zipfile

import numpy as np
import xlwt
from scipy.io import savemat


def zip_of(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def tar_of(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def folder_of(path, members):
    for name, content in members.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def pgm(image, comment=b"", white=255):
    rows, columns = image.shape
    body = image.astype(">u2" if white > 255 else "u1").tobytes()
    return b"P5\n%s%d %d\n%d\n" % (comment, columns, rows, white) + body


def pgm_text(image):
    rows, columns = image.shape
    lines = "\n".join(" ".join(map(str, row)) for row in image)
    return f"P2 # made by hand\n{columns} {rows}\n255\n{lines}\n".encode()


def mat(**variables):
    file = io.BytesIO()
    savemat(file, variables)
    return file.getvalue()


def lines(table, delimiter=" ", form="%g"):
    file = io.BytesIO()
    np.savetxt(file, table, fmt=form, delimiter=delimiter)
    return file.getvalue()


def excel(rows):
    book = xlwt.Workbook()
    sheet = book.add_sheet("expressions")
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            sheet.write(i, j, cell)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def compress(data, max_bits):
    """As Unix ``compress`` does, but for its rule when to clear the table: here, when it is full."""
    out, group, width = bytearray(struct.pack("BBB", 0x1F, 0x9D, 0x80 | max_bits)), [], 9

    def pad_and_write():
        bits = sum(code << width * place for place, code in enumerate(group))
        out.extend(bits.to_bytes(width, "little"))
        group.clear()

    words, known, word = {bytes([value]): value for value in range(256)}, 257, b""
    for value in data:
        if word + bytes([value]) in words:
            word += bytes([value])
            continue
        group.append(words[word])
        if len(group) == 8:
            pad_and_write()
        words[word + bytes([value])] = known
        known += 1
        word = bytes([value])
        if (
            known > 1 << width and width < max_bits
        ):  # one later than the table: the reader learns each word one code late
            if group:
                pad_and_write()
            width += 1
        elif known > 1 << max_bits:
            group.append(256)
            pad_and_write()
            words, known, width = {bytes([value]): value for value in range(256)}, 257, 9
    group.append(words[word])
    bits = sum(code << width * place for place, code in enumerate(group))
    out.extend(bits.to_bytes(-(-len(group) * width // 8), "little"))
    return bytes(out)
