import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The place of the state` {
    private func location(_ group: String?, _ kind: HostProcess.Kind = .app) throws -> StateLocation {
        var options = Tenure.Options()
        options.accessGroup = group
        return try StateLocation(options, host: HostProcess(kind, bundleID: "com.example.app"))
    }

    @Test func `the client's state is private unless an access group is set`() throws {
        #expect(try location(nil).formerStorage == nil)
        let shared = try location("group.com.example.app")
        let folder = try #require(shared.storage as? FileStateStorage).folder
        #expect(folder.path.hasSuffix("/tenure/groups/group.com.example.app"))
        #expect(shared.formerStorage is FileStateStorage)
    }

    @Test func `an access group with an invalid name, such as a path, is refused`() {
        for group in ["", ".", "..", "../other", "a/b", "a b"] {
            #expect(throws: AccessGroupError.invalidName(group)) { try location(group) }
        }
    }

    @Test func `an App Clip never shares the client's state`() throws {
        #expect(throws: AccessGroupError.appClip) { try location("group.com.example.app", .appClip) }
        #expect(try location(nil, .appClip).formerStorage == nil)
    }

    @Test func `if the keychain can't be read, the client still decides, and reports the keychain's error`() async {
        let device = Device(FakeStore { $0.app = InventedApp.owner() }) { setup in
            setup.storage = Keychain(error: .failed(operation: "read", status: -50))
        }
        let customer = await device.start().settled()
        #expect(customer.has("everything"))
        let step = customer.steps.first { $0.name == .localState }
        #expect(step?.description.contains("can't read the keychain (status -50)") == true)
    }
}

/// A keychain that fails with one error.
private struct Keychain: StateStorage {
    let error: StateStorageError
    func read() throws -> Data? { throw error }
    func update(_ change: (Data?) throws -> Data) throws { throw error }
    func secret() throws -> Data { Data() }
    func remove() throws { throw error }
}

@Suite struct `A keychain that can't be used` {
    private func device(
        _ error: StateStorageError, file: MemoryStateStorage, lines: Locked<[String]>
    ) -> Device {
        Device(FakeStore { $0.app = InventedApp.owner() }) { setup in
            setup.storage = FallbackStateStorage(keychain: Keychain(error: error), file: file) { line in
                lines.withLock { $0.append(line) }
            }
        }
    }

    @Test func `a keychain that refuses the client is replaced by a file, and reported once`() async {
        let (file, lines) = (MemoryStateStorage(), Locked<[String]>([]))
        let device = device(.refused(operation: "read"), file: file, lines: lines)
        let tenure = device.start()
        _ = await tenure.settled()
        await tenure.engine.searchAgain()
        #expect(file.contents != nil)
        #expect(lines.withLock { $0.count } == 1)
        device.store.change { $0.appBehavior = .throwsAnError }
        #expect(await device.start().allows("everything"))
    }

    @Test func `a keychain that refuses both the shared and the private state is reported once`() throws {
        let lines = Locked<[String]>([])
        let log = FallbackStateStorage.loggingOnce { line in lines.withLock { $0.append(line) } }
        for operation in ["read", "update"] {
            let storage = FallbackStateStorage(
                keychain: Keychain(error: .refused(operation: operation)), file: MemoryStateStorage(), log: log)
            for _ in 0..<2 { #expect(try storage.read() == nil) }
            // The state is now sealed with the file's secret.
            #expect(try storage.secret() == Data("a secret of this device".utf8))
        }
        let line =
            "can't read the keychain because the app lacks the entitlement (-34018); sign the app with a team; "
            + "the state is kept in a file that only its user can read"
        #expect(lines.withLock { $0 } == [line])
    }

    @Test(arguments: [StateStorageError.locked(operation: "read"), .failed(operation: "read", status: -50)])
    func `a keychain that is locked, or fails for another reason, isn't replaced by a file`(_ error: StateStorageError)
        async
    {
        let (file, lines) = (MemoryStateStorage(), Locked<[String]>([]))
        _ = await device(error, file: file, lines: lines).start().settled()
        #expect(file.contents == nil)
        #expect(lines.withLock { $0.isEmpty })
    }
}
