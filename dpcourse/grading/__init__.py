"""From a folder of submissions to a gradebook; nothing here but the worker runs a line of a student's."""
