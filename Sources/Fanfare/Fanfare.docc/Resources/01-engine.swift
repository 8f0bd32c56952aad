import Fanfare

let engine = try Engine(Engine.Options(transport: .discard))

_ = await engine.shutdown(within: .seconds(10))
