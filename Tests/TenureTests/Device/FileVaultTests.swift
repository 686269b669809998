import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The folder of the local state` {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private struct Unexpected: Error {}

    private func memory() -> Memory {
        var memory = Memory(clock: World.now)
        memory.account.add(World.owner())
        memory.account.add([World.purchase(), World.subscription(until: World.now)])
        return memory
    }

    @Test func `gives back what was kept, and nobody else may read it`() async throws {
        try await withFolder { folder in
            let vault = FileVault(folder: folder)
            guard case .nothing = vault.recall(device: nil) else { throw Unexpected() }
            try vault.keep(memory())
            guard case .remembered(let known) = FileVault(folder: folder).recall(device: nil) else {
                throw Unexpected()
            }
            #expect(known == memory())
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: folder.appendingPathComponent(name).path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
            }
            // Nothing that was written aside stays.
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        }
    }

    @Test func `with a state from elsewhere is not believed`() async throws {
        try await withFolder { first in
            try await withFolder { second in
                try FileVault(folder: first).keep(memory())
                try FileVault(folder: second).keep(Memory(clock: World.now))
                let state = try Data(contentsOf: first.appendingPathComponent("state"))
                try state.write(to: second.appendingPathComponent("state"))
                guard case .refused = FileVault(folder: second).recall(device: nil) else {
                    throw Unexpected()
                }
            }
        }
    }

    @Test func `with a secret that was cut short begins anew`() async throws {
        try await withFolder { folder in
            let vault = FileVault(folder: folder)
            try vault.keep(memory())
            try Data([1, 2, 3]).write(to: folder.appendingPathComponent("secret"))
            guard case .refused = vault.recall(device: nil) else { throw Unexpected() }
            try vault.keep(memory())
            guard case .remembered = vault.recall(device: nil) else { throw Unexpected() }
        }
    }

    @Test func `that cannot be written does not keep anybody from an answer`() async throws {
        try await withFolder { folder in
            // A file stands where the folder should be.
            try Data().write(to: folder)
            let device = Device(FakeStore { $0.app = World.owner() }) { $0.vault = FileVault(folder: folder) }
            #expect(await device.start().allows("everything"))
        }
    }

    @Test func `is named so that no name leads out of it`() {
        let vault = FileVault.standard(name: "../../etc/passwd com.example")
        #expect(vault.folder.lastPathComponent == ".._.._etc_passwd_com.example")
        for name in ["", ".", ".."] { #expect(FileVault.standard(name: name).folder.lastPathComponent == "app") }
    }
}
