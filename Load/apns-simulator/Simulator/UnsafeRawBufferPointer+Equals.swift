internal import Glibc

extension UnsafeRawBufferPointer {
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let baseAddress else { return isEmpty && text.utf8CodeUnitCount == 0 }
        return memcmp(baseAddress, text.utf8Start, count) == 0
    }

    func equals(_ bytes: [UInt8]) -> Bool {
        guard count == bytes.count, let baseAddress else { return isEmpty && bytes.isEmpty }
        return memcmp(baseAddress, bytes, count) == 0
    }
}
