/// The engine.
