import FanfareModel

extension StartRequest {
    /// What makes the push a start.
    func payload(edition: Int) -> Payload.Start {
        let name = name(edition: edition)
        var named = attributes
        named[activityKey] = .string(name)
        var bytes: [UInt8] = []
        named.write(to: &bytes)
        // Should a start wait for the phone twice, there is one card all the same (spec §11, observed), also where the second one is
        // sent by another process. 64 bytes at most, so not the id itself. Ids that meet matter on one phone only.
        return Payload.Start(
            attributesType: attributesType, attributes: bytes, updates: .token,
            collapseID: "start-" + String(name.utf8.fnv1a, radix: 16))
    }
}
