"""The lessons in a learner's folder: `folder` writes them and brings a newer edition, `merge` says what goes where."""

from dpcourse.edition.folder import begun, language_of, start, update

__all__ = ["begun", "language_of", "start", "update"]
