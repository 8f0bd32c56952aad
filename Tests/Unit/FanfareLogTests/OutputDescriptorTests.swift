import FanfareTestSupport
import Foundation
import Glibc
import Testing

@testable import FanfareLog

@Suite struct OutputDescriptorTests {
    @Test(arguments: [false, true]) func theSystemSyncsEachWriteOnlyOfAFileForALibrary(isSynchronous: Bool) throws {
        let folder = try TemporaryFolder.made()
        let file = try OutputDescriptor(
            folder.path + "/file", ownerOf: folder.path, isSynchronous: isSynchronous)
        let flags = fcntl(file.descriptor, F_GETFL)
        #expect(flags >= 0 && (flags & O_DSYNC != 0) == isSynchronous)
    }

    /// A file of more than 4 MB is synced before its end.
    @Test func aLargeFileHasEverythingThatWasWritten() throws {
        let folder = try TemporaryFolder.made()
        let path = folder.path + "/file"
        let pieces = (0..<6 as Range<UInt8>).map { [UInt8](repeating: $0, count: 1 << 20) }
        let file = try OutputDescriptor(path, ownerOf: folder.path)
        for piece in pieces { try file.write(piece) }
        try file.sync()
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(pieces.joined()))
    }
}
