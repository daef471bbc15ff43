"""Content types of published files, by their names (fault row 54).

The table is the project's own: what a host's registry says differs from machine to
machine. Text carries ``charset=utf-8``, or browsers guess. A name without a known
ending is ``application/octet-stream``, which browsers save and never run.
"""

from __future__ import annotations

DEFAULT = "application/octet-stream"

_TEXT = {
    "text/html": "html htm",
    "application/xhtml+xml": "xhtml",
    "text/css": "css",
    "text/javascript": "js mjs cjs",
    "text/plain": "txt text log ini conf cfg toml diff patch rst adoc tex "
    "sh py r sql go rs c h cpp hpp java ts tsx jsx",
    "text/markdown": "md markdown mdown qmd rmd",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv tab",
    "text/calendar": "ics",
    "text/vcard": "vcf",
    "text/vtt": "vtt",
    "application/json": "json map ipynb",
    "application/ld+json": "jsonld",
    "application/geo+json": "geojson",
    "application/x-ndjson": "ndjson jsonl",
    "application/manifest+json": "webmanifest",
    "application/yaml": "yaml yml",
    "application/xml": "xml xsd xsl xslt",
    "application/atom+xml": "atom",
    "application/rss+xml": "rss",
    "image/svg+xml": "svg",
}

_BINARY = {
    "image/png": "png",
    "image/jpeg": "jpg jpeg jpe jfif",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/apng": "apng",
    "image/bmp": "bmp",
    "image/tiff": "tif tiff",
    "image/heic": "heic",
    "image/x-icon": "ico",
    "font/woff2": "woff2",
    "font/woff": "woff",
    "font/ttf": "ttf",
    "font/otf": "otf",
    "font/collection": "ttc",
    "application/vnd.ms-fontobject": "eot",
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
    "audio/ogg": "ogg oga opus",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "video/mp4": "mp4 m4v",
    "video/webm": "webm",
    "video/ogg": "ogv",
    "video/quicktime": "mov",
    "application/pdf": "pdf",
    "application/epub+zip": "epub",
    "application/postscript": "ps eps",
    "application/rtf": "rtf",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/zip": "zip",
    "application/gzip": "gz tgz",
    "application/x-bzip2": "bz2",
    "application/x-xz": "xz",
    "application/zstd": "zst",
    "application/x-brotli": "br",
    "application/x-7z-compressed": "7z",
    "application/x-tar": "tar",
    "application/wasm": "wasm",
    "application/vnd.apache.parquet": "parquet",
    "application/vnd.apache.arrow.file": "arrow feather",
    "application/vnd.sqlite3": "sqlite sqlite3",
}

_BY_ENDING = {ending: f"{name}; charset=utf-8" for name, endings in _TEXT.items() for ending in endings.split()} | {
    ending: name for name, endings in _BINARY.items() for ending in endings.split()
}


def media_type(path: str) -> str:
    """Return the ``Content-Type`` for a file of this name, with the charset where it is text."""
    name = path.rpartition("/")[2]
    return _BY_ENDING.get(name.rpartition(".")[2].lower(), DEFAULT) if "." in name else DEFAULT
