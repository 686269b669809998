package import Foundation

/// What the device keeps from one start to the next.
package struct Memory: Sendable, Hashable, Codable {
    /// `AppStore.deviceVerificationID` of the device that wrote it, hashed.
    package var device: String?
    /// How the copy of the app that wrote it came here: what a tester had is nothing to what is bought later.
    package var distribution: String?
    package var time: DeviceTime
    package var account = Account()
    /// What was used of trials, by acquisition: an account that goes and comes back finds what it had used.
    package var trials: [String: [String: TrialUse]] = [:]
    /// What the service says that the app sells; nil until somebody wanted to know.
    package var catalogue: KeptCatalogue?

    package init(clock: Date) {
        time = DeviceTime(clock: clock)
    }

    /// Once it was read, or made.
    mutating func settle(on device: String?, _ distribution: Distribution, at clock: Date) {
        time.look(at: clock)
        self.device = device ?? self.device
        if let other = self.distribution, other != distribution.rawValue { discardAccount() }
        self.distribution = distribution.rawValue
    }

    /// Who stands in for the customer from now on.
    mutating func stand(in persona: String?) {
        guard account.persona != persona else { return }
        account.forgetService()
        account.persona = persona
    }

    /// Forgets one account, for another. Who stands in for customers stands in for that one, too.
    package mutating func discardAccount() {
        let persona = account.persona
        account = Account()
        account.persona = persona
    }
}

/// What came of reading the local state.
package enum Recollection: Sendable {
    case remembered(Memory)
    /// The first start, or after a reinstallation where nothing outlives one.
    case nothing
    /// Something lies there that this device did not write, or not like that. It is not believed, and replaced.
    case refused(String)
    /// Something may lie there, and cannot be read now. It must not be replaced.
    case unreadable(String)
}

extension Vault {
    /// `device`: the present device, hashed; nil where the store does not name it.
    package func recall(device: String?) -> Recollection {
        do {
            guard let bytes = try read() else { return .nothing }
            guard let contents = SealedState.open(bytes, with: try secret()) else {
                return .refused("it was changed or cut short, or comes from another device")
            }
            guard let memory = try? JSONDecoder().decode(Memory.self, from: contents) else {
                return .refused("it is of another shape than this release writes")
            }
            if let device, let theirs = memory.device, device != theirs {
                return .refused("it comes from another device")
            }
            guard !memory.time.isImpossible else { return .refused("its dates cannot be") }
            return .remembered(memory)
        } catch {
            return .unreadable("\(error)")
        }
    }

    package func keep(_ memory: Memory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try write(SealedState.seal(try encoder.encode(memory), with: try secret()))
    }
}
