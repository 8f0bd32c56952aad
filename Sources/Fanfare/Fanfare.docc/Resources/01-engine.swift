import Fanfare

let engine = try await Engine.launch(Engine.Options(transport: .discard))

_ = await engine.shutdown(within: .seconds(10))
