import Foundation
import Testing

@testable import TenureStore

/// Tests with lines of `/proc/self/mountinfo`.
@Suite struct `a network file system` {
    #if os(Linux)
        /// Lines as in `/proc/self/mountinfo`.
        private static let table = [
            "22 27 0:21 / /proc rw,relatime - proc proc rw",
            "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
            "45 27 0:52 / /srv/nfs rw,relatime shared:20 master:3 - nfs4 10.0.0.2:/export rw,vers=4.2",
            "46 27 0:53 / /srv/share\\040one rw,relatime - cifs //10.0.0.2/share rw,vers=3.1.1",
            "47 27 8:4097 / /big rw - ext4 /dev/sdzz1 rw",
        ].joined(separator: "\n")

        @Test(arguments: [(0x15, "proc"), (0xfe00, "ext4"), (0x34, "nfs4"), (0x35, "cifs"), (0x100_0801, "ext4")])
        func `a file system's type is found in the mount table by its device number`(device: UInt64, type: String) {
            #expect(NetworkFileSystem.type(ofDevice: device, in: Self.table) == type)
        }

        @Test(arguments: ["", "1", "36 35 0:52", "36 35 0:52 / / rw -", "- - -"])
        func `no network file system is found in a malformed mount table`(table: String) {
            #expect(NetworkFileSystem.type(ofDevice: 0x34, in: table) == nil)
        }

        @Test func `a database on a network file system is refused with the file system's name`() {
            let error = NetworkFileSystem.objection(to: "/srv/nfs/tenure.sqlite", ofType: "nfs4")
            #expect(error?.description.contains("nfs4") == true)
            for type in ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs"] {
                #expect(NetworkFileSystem.objection(to: "/tenure.sqlite", ofType: type) == nil, "\(type)")
            }
        }
    #endif

    @Test func `a new database in the temporary folder isn't refused as on a network file system`() {
        #expect(NetworkFileSystem.objection(to: NSTemporaryDirectory() + "none.sqlite") == nil)
    }
}
