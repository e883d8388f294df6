// Runs a Python file in Pyodide: node in_a_tab.mjs PYODIDE FILE ARGUMENT place=folder ...
// Each folder of this machine stands at its place there, and in Python's path.
const [, , pyodideAt, file, argument, ...mounts] = process.argv;
const { loadPyodide } = await import(pyodideAt);
const pyodide = await loadPyodide({ env: { HOME: "/home", DPCOURSE_DATA: "/home/data" } });
const places = mounts.map((mount) => mount.split("="));
for (const [place, folder] of places) pyodide.mountNodeFS(place, folder);
pyodide.globals.set("places", pyodide.toPy(places.map(([place]) => place)));
pyodide.globals.set("arguments", pyodide.toPy([file, argument]));
await pyodide.runPythonAsync(`
import runpy, sys
sys.path[:0] = places
sys.argv = arguments
runpy.run_path(arguments[0], run_name="__main__")
`);
