public import Foundation
public import TenureCore

extension Tenure {
    /// What an app may want otherwise.
    public struct Options: Sendable {
        /// When a transaction is finished: until then the App Store offers it again at each start.
        public enum Finishing: Sendable, Hashable {
            /// As soon as it is recorded: written down on the device, or acknowledged by the service.
            case whenRecorded
            /// These products only once the app says so by `contentArrived(for:)`; all others as soon as recorded.
            case afterContent(of: Set<String>)
            /// Never: the app has code of its own for that.
            case never
        }

        /// What is said of copies that did not come from the App Store, which can prove nothing.
        public enum OutsideAppStore: Sendable, Hashable {
            /// Everything is allowed: whoever handed the app out took the money.
            case allow
            case deny
            /// As for everybody of whom nothing is known: the policy's `whileUndetermined`.
            case undetermined
        }

        public var finishing = Finishing.whenRecorded
        public var outsideAppStore = OutsideAppStore.undetermined
        /// What a yes-or-no question gets while nothing is known, and for how long since this customer or device was first
        /// seen; nil: as the policy says, or 72 hours where there is none.
        public var whileUndetermined: Policy.WhileUndetermined?
        /// Seconds for one call into StoreKit, and for one to the service.
        public var storeDeadline: Double = 8
        public var serviceDeadline: Double = 15
        /// For a build under test that asks the service: the token of `tenure persona create`, of who is to stand in for
        /// the customer. It is sent beside what was signed in the sandbox or by Xcode, and never by what people bought.
        public var persona: String?
        public var log = Log.standard
        /// Where the local state lies; nil: the keychain on Apple's platforms, elsewhere a folder of the user's.
        public var folder: URL?
        /// The App Group that shares the state between the app and its extensions, such as `group.com.example.app`; nil:
        /// each has a state of its own. On Linux a folder that the processes share.
        ///
        /// Set later, it moves the state to the group. The group must be among the App Groups of the app and of each
        /// extension.
        public var accessGroup: String?

        public init() {}
    }
}
