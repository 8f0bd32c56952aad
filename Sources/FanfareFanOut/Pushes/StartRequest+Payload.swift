import FanfareModel

extension StartRequest {
    /// Returns the start part of a push's payload.
    func payload(edition: Int) -> Payload.Start {
        let name = name(edition: edition)
        var named = attributes
        named[activityKey] = .string(name)
        var bytes: [UInt8] = []
        named.write(to: &bytes)
        // The identifier merges starts that wait for the phone into one card (spec §11, observed), also if another process sends the
        // second one. It has 64 bytes at most, so it is not the id itself. Hashes that collide matter only on one phone.
        return Payload.Start(
            attributesType: attributesType, attributes: bytes, collapseID: "start-" + String(name.utf8.fnv1a, radix: 16)
        )
    }
}
