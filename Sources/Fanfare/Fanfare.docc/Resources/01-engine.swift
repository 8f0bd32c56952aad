import Fanfare

let engine = try await Engine(Engine.Options(transport: .discard))

_ = await engine.shutdown(within: .seconds(10))
