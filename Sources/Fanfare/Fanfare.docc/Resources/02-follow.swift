import Fanfare

let engine = try await Engine.launch(Engine.Options(transport: .discard))

let match = TopicID("match/1")
let token: [UInt8] = [0x80, 0xf2, 0x9c, 0x41]
do {
    let receipt = try await engine.follow(
        .topic(match), activity: "anna-card", subscriber: "anna", token: token)
    print("taken at place \(receipt.position)")
} catch {
    switch error {
    case .refused(let refusal): print("the call is wrong: \(refusal)")
    case .full, .stopped, .cancelled: print(error)
    }
}

_ = await engine.shutdown(within: .seconds(10))
