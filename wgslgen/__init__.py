"""wgslgen turns typed kernel specs and Jinja templates into plain WGSL for web apps.

A *kernel* is one computation, and what specialises it are its *constants*; with all of them fixed it is a
*variant*. The spec of a variant (`wgslgen.kernels`) is the only place where a fact about it stands: bindings,
uniforms, dispatch, requirements, rules and tolerance. From it, and from a template that reads as WGSL, comes
the text (`wgslgen.render`); from it come the manifest, the tests and the docs as well. How a weight block is
read is a *format* (`wgslgen.formats`), decoded in one place for all kernels.

All of this happens at build time. What a *bundle file* asks for is rendered to memory, refused by two judges
if it is not portable WGSL (`wgslgen.validate`), run on an adapter and compared with a NumPy oracle that knows
neither kernels nor templates (`wgslgen.oracles`, `wgslgen.verify`), and only then vendored by a web app, which
needs neither Python nor a template engine nor a network.

The middle is pure: rendering touches no disk, clock, environment or device, so that the same specs give the
same bytes on every machine, and writing a bundle and checking it are one path.
"""

__version__ = "0.1.0"
