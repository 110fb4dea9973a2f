"""What data sets there are: the nine of the paper's Table 1, and three that stand in for those hard to obtain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Literal
from urllib.parse import unquote, urlparse

from dsofs.datasets.formats import (
    Parser,
    Shape,
    faces_in_cells,
    faces_in_folders,
    parse_asu,
    parse_gisette,
    parse_isolet,
    parse_lung,
    parse_semeion,
)

UCI = "https://archive.ics.uci.edu"
ASU = "https://jundongl.github.io/scikit-feature"
CC_BY = "CC BY 4.0"
NOT_STATED = "not stated; research use"
UMIST_SIZE = (56, 46)


@dataclass(frozen=True)
class PublishedFile:
    """A file to download, which of its members are needed, and how they are read."""

    url: str
    members: tuple[str, ...]
    parse: Parser
    sha256: Mapping[str, str] = field(default_factory=dict)  # of members, where it is known

    @property
    def file_name(self) -> str:
        return unquote(urlparse(self.url).path.rsplit("/", 1)[-1])


@dataclass(frozen=True)
class Dataset:
    """One data set. ``sources`` are tried in turn; one without any is read from its npz file only."""

    name: str
    title: str
    n_samples: int
    n_features: int
    n_classes: int
    about: str
    publisher: str
    home: str
    citation: str
    licence: str = NOT_STATED
    sources: tuple[PublishedFile, ...] = ()
    target_names: tuple[str, ...] | None = None  # None: as the file calls them
    image: Shape | None = None
    pixel_order: Literal["C", "F"] = "F"  # row by row, or column by column as MATLAB
    decimals: int | None = None  # to which float32 must be rounded to be the float64 of the source

    @property
    def is_stand_in(self) -> bool:
        return not self.sources

    @property
    def size(self) -> str:
        return f"{self.n_samples} samples x {self.n_features} features, {self.n_classes} classes"


def _asu_file(name: str) -> PublishedFile:
    return PublishedFile(f"{ASU}/files/datasets/{name}.mat", ("*.mat",), parse_asu)


_DATASETS = (
    Dataset(
        "isolet", "ISOLET", n_samples=7797, n_features=617, n_classes=26,
        about="The names of the letters, spoken twice by each of 150 people, as 617 acoustic features. The samples of\n"
        "isolet1+2+3+4.data (6238) come first, then those of isolet5.data.",
        publisher="UCI",
        home=f"{UCI}/dataset/54/isolet",
        licence=CC_BY,
        citation="R. Cole and M. Fanty, ISOLET, UCI Machine Learning Repository, 1991, doi:10.24432/C51G69",
        sources=(PublishedFile(f"{UCI}/static/public/54/isolet.zip", ("isolet*.data",), parse_isolet),),
        target_names=tuple(ascii_uppercase),
        decimals=4,
    ),
    Dataset(
        "semeion", "SEMEION", n_samples=1593, n_features=256, n_classes=10,
        about="Digits written by about 80 people, as 16 x 16 pixels that are 0 or 1.",
        publisher="UCI",
        home=f"{UCI}/dataset/178/semeion+handwritten+digit",
        licence=CC_BY,
        citation="Semeion Handwritten Digit, UCI Machine Learning Repository, 1998, doi:10.24432/C5SC8V",
        sources=(
            PublishedFile(
                f"{UCI}/static/public/178/semeion+handwritten+digit.zip", ("semeion.data",), parse_semeion,
                sha256={"semeion.data": "f43228ae3da5ea6a3c95069d53450b86166770e3b719dcc333182128fe08d4b1"},
            ),
        ),
        target_names=tuple("0123456789"),
        image=(16, 16),
        pixel_order="C",
    ),
    Dataset(
        "gisette", "GISETTE", n_samples=7000, n_features=5000, n_classes=2,
        about="The digits 4 and 9, as pixels, products of pixels, and features added to mislead. The training samples\n"
        "(6000) and then the validation samples of the NIPS 2003 challenge; its test samples have no public labels.",
        publisher="UCI",
        home=f"{UCI}/dataset/170/gisette",
        licence=CC_BY,
        citation="I. Guyon et al., Result analysis of the NIPS 2003 feature selection challenge, NIPS 17, 2004",
        sources=(
            PublishedFile(
                f"{UCI}/static/public/170/gisette.zip", ("gisette_train.*", "gisette_valid.*"), parse_gisette,
                sha256={
                    "gisette_train.data": "6d4c5e998afe67937b9e77a3334e03c85e545ebc65a6eb1333ffc14125cfc389",
                    "gisette_train.labels": "42bd681fe51b161f033df773df14a0116e492676555ab14616c1b72edc054075",
                    "gisette_valid.data": "5cea897956dd172a006132738254a27a8f61ecc1ceb6f5b20639c281d2942254",
                    "gisette_valid.labels": "a6b857a0448023f033c4dda2ef848714b4be2ae45ce598d088fb3efb406e08c5",
                },
            ),
        ),
    ),
    Dataset(
        "lung", "LUNG", n_samples=203, n_features=3312, n_classes=5,
        about="Gene expressions of four kinds of lung tumours and of normal lung. Of 12600 probe sets those are kept\n"
        "whose standard deviation is 50 units or more; the file of ASU holds these already.",
        publisher="PNAS",
        home="https://www.ncbi.nlm.nih.gov/pmc/articles/PMC61120",
        citation="A. Bhattacharjee et al., Classification of human lung carcinomas by mRNA expression profiling "
        "reveals distinct adenocarcinoma subclasses, PNAS 98, 2001",
        sources=(
            PublishedFile(
                "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC61120/bin/pnas_191502998_DatasetA_12600gene.xls",
                ("*.xls", "*.txt", "*.tsv"), parse_lung,
            ),
            _asu_file("lung"),
        ),
    ),
    Dataset(
        "cll_sub_111", "CLL-SUB-111", n_samples=111, n_features=11340, n_classes=3,
        about="Gene expressions of three kinds of chronic lymphocytic leukaemia.",
        publisher="ASU",
        home=f"{ASU}/datasets.html",
        citation="C. Haslinger et al., Microarray gene expression profiling of B-cell chronic lymphocytic leukemia "
        "subgroups, J. Clinical Oncology 22, 2004; collected by ASU",
        sources=(_asu_file("CLL_SUB_111"),),
    ),
    Dataset(
        "tox_171", "TOX-171", n_samples=171, n_features=5748, n_classes=4,
        about="Gene expressions from a study of toxic exposure, four groups.",
        publisher="ASU",
        home=f"{ASU}/datasets.html",
        citation="J. Li et al., Feature selection: a data perspective, ACM Computing Surveys 50, 2017",
        sources=(_asu_file("TOX_171"),),
        decimals=2,
    ),
    Dataset(
        "umist", "UMIST", n_samples=575, n_features=2576, n_classes=20,
        about="Faces of 20 people, from profile to frontal. The images of 112 x 92 pixels are resized to 56 x 46:\n"
        "bicubic, with antialiasing, rounded to whole grey values. How the paper resized them is not known.",
        publisher="Sheffield",
        home="https://www.visioneng.org.uk/datasets",
        citation="D. Graham and N. Allinson, Characterizing virtual eigensignatures for general purpose face "
        "recognition, in Face Recognition: From Theory to Applications, 1998",
        sources=(
            PublishedFile(
                "http://eeepro.shef.ac.uk/vie/cropped.tar.gz", ("*.pgm",), faces_in_folders("1[a-t]", UMIST_SIZE)
            ),
            PublishedFile("https://cs.nyu.edu/~roweis/data/umist_cropped.mat", ("*.mat",), faces_in_cells(UMIST_SIZE)),
        ),
        image=UMIST_SIZE,
    ),
    Dataset(
        "ar", "AR", n_samples=130, n_features=2400, n_classes=10,
        about="Faces of 10 people, some with sunglasses or scarves; 60 x 40 pixels, as published (ASU's warpAR10P).",
        publisher="ASU",
        home=f"{ASU}/datasets.html",
        citation="A. Martinez and R. Benavente, The AR face database, CVC Technical Report 24, 1998; collected by ASU",
        sources=(_asu_file("warpAR10P"),),
        image=(60, 40),
    ),
    Dataset(
        "orl", "ORL", n_samples=400, n_features=10304, n_classes=40,
        about="Ten faces of each of 40 people; 112 x 92 pixels, as published.",
        publisher="AT&T",
        home="https://cam-orl.co.uk/facedatabase.html",
        licence="credit to AT&T Laboratories Cambridge",
        citation="F. Samaria and A. Harter, Parameterisation of a stochastic model for human face identification, "
        "IEEE Workshop on Applications of Computer Vision, 1994",
        sources=(
            PublishedFile(
                "https://www.cl.cam.ac.uk/Research/DTG/attarchive/pub/data/att_faces.zip", ("*.pgm",),
                faces_in_folders(r"s\d+"),
            ),
        ),
        image=(112, 92),
    ),
    Dataset(
        "mnist_4v9", "MNIST, 4 and 9", n_samples=7000, n_features=784, n_classes=2,
        about="Two digits that are easily confused, 28 x 28 pixels. As GISETTE, for which it stands in.",
        publisher="MNIST",
        home="http://yann.lecun.com/exdb/mnist",
        citation="Y. LeCun et al., Gradient-based learning applied to document recognition, Proc. IEEE 86, 1998",
        target_names=("4", "9"),
        image=(28, 28),
        pixel_order="C",
    ),
    Dataset(
        "brain_tumor_1", "Brain tumor 1", n_samples=90, n_features=5920, n_classes=5,
        about="Gene expressions of five kinds of brain tissue, 4 to 60 samples of each. Stands in for LUNG.",
        publisher="Nature",
        home="https://doi.org/10.1038/415436a",
        citation="S. Pomeroy et al., Prediction of central nervous system embryonal tumour outcome based on gene "
        "expression, Nature 415, 2002",
    ),
    Dataset(
        "leukemia_mll", "Leukemia MLL", n_samples=72, n_features=11225, n_classes=3,
        about="Gene expressions of three kinds of leukaemia. Stands in for CLL-SUB-111.",
        publisher="Nature Genetics",
        home="https://doi.org/10.1038/ng765",
        citation="S. Armstrong et al., MLL translocations specify a distinct gene expression profile that "
        "distinguishes a unique leukemia, Nature Genetics 30, 2002",
    ),
)  # fmt: skip

CATALOGUE = {dataset.name: dataset for dataset in _DATASETS}
