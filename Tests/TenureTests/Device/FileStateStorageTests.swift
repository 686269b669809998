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

    private func state() -> StoredState {
        var state = StoredState(clock: InventedApp.now)
        state.account.add(InventedApp.owner())
        state.account.add([InventedApp.purchase(), InventedApp.subscription(until: InventedApp.now)])
        return state
    }

    private func store(_ state: StoredState, in storage: FileStateStorage) throws {
        try storage.update(device: nil) { _ in state }
    }

    @Test func `the local state is read as it was stored, and only its owner may read the file`() async throws {
        try await withFolder { folder in
            let storage = FileStateStorage(folder: folder)
            guard case .missing = storage.load(device: nil) else { throw Unexpected() }
            try store(state(), in: storage)
            guard case .state(let known) = FileStateStorage(folder: folder).load(device: nil) else {
                throw Unexpected()
            }
            #expect(known == state())
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: folder.appendingPathComponent(name).path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
            }
            // No temporary files are left.
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                    "lock", "secret", "state",
                ])
        }
    }

    @Test func `a local state that was copied from another device is ignored`() async throws {
        try await withFolder { first in
            try await withFolder { second in
                try store(state(), in: FileStateStorage(folder: first))
                try store(StoredState(clock: InventedApp.now), in: FileStateStorage(folder: second))
                let state = try Data(contentsOf: first.appendingPathComponent("state"))
                try state.write(to: second.appendingPathComponent("state"))
                guard case .rejected = FileStateStorage(folder: second).load(device: nil) else {
                    throw Unexpected()
                }
            }
        }
    }

    @Test func `a local state with a truncated secret is rejected, and a new state can be stored`() async throws {
        try await withFolder { folder in
            let storage = FileStateStorage(folder: folder)
            try store(state(), in: storage)
            try Data([1, 2, 3]).write(to: folder.appendingPathComponent("secret"))
            guard case .rejected = storage.load(device: nil) else { throw Unexpected() }
            try store(state(), in: storage)
            guard case .state = storage.load(device: nil) else { throw Unexpected() }
            #expect(try storage.secret().count == 32)
        }
    }

    @Test func `a removed state leaves only its lock, and can be removed again`() async throws {
        try await withFolder { folder in
            let storage = FileStateStorage(folder: folder)
            try store(state(), in: storage)
            for _ in 0..<2 {
                try storage.remove()
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["lock"])
                guard case .missing = storage.load(device: nil) else { throw Unexpected() }
            }
        }
    }

    @Test func `a file of more than 8 MiB isn't read as a state`() async throws {
        try await withFolder { folder in
            let storage = FileStateStorage(folder: folder)
            try store(state(), in: storage)
            for (size, read) in [(8_388_608, 8_388_608), (8_388_609, 0)] {
                try Data(count: size).write(to: folder.appendingPathComponent("state"))
                #expect(try storage.read()?.count == read)
                guard case .rejected = storage.load(device: nil) else { throw Unexpected() }
            }
        }
    }

    @Test func `the client decides even if the folder of its local state can't be written`() async throws {
        try await withFolder { folder in
            // A file is in place of the folder.
            try Data().write(to: folder)
            let device = Device(FakeStore { $0.app = InventedApp.owner() }) {
                $0.storage = FileStateStorage(folder: folder)
            }
            #expect(await device.start().allows("everything"))
        }
    }

    @Test func `the folder of the local state has a name that never leads out of its parent folder`() {
        let storage = FileStateStorage.standard(name: "../../etc/passwd com.example")
        #expect(storage.folder.lastPathComponent == ".._.._etc_passwd_com.example")
        for name in ["", ".", ".."] { #expect(FileStateStorage.standard(name: name).folder.lastPathComponent == "app") }
    }
}
