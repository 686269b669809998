public import Foundation

extension Tenure {
    /// Why an asset pack can't be downloaded or opened. An unavailable network or server isn't an error: the download
    /// waits until the network or the server is available.
    public enum AssetPackError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
        /// No content catalog has a pack with this name.
        case unknownPack(String)
        /// The customer may not use the pack.
        case notEntitled(String)
        /// All versions of the pack need a newer version of the app.
        case needsAppUpdate(String)
        /// The app canceled the download or removed the pack.
        case canceled(String)
        /// The server rejected the download link of the pack with this name, and then the new link that Tenure
        /// requested.
        case refused(String)
        /// The server's bytes don't match the digests of the published pack.
        case corrupted(String)
        /// The pack isn't on the device.
        case notInstalled(String)
        /// The pack has no such file or folder.
        case missingFile(path: String)
        /// A file can't be read or written on the device, for this reason.
        case storage(String)

        /// Whether the same call may succeed later.
        public var isRetryable: Bool {
            switch self {
            case .canceled, .refused, .corrupted, .notInstalled, .storage: true
            case .unknownPack, .notEntitled, .needsAppUpdate, .missingFile: false
            }
        }

        /// The problem and its fix on one line, for a log.
        public var description: String { "\(texts.problem) \(texts.recovery)" }
        /// The problem in one English sentence.
        public var errorDescription: String? { texts.problem }
        /// What the customer can do about the problem.
        public var recoverySuggestion: String? { texts.recovery }

        private var texts: (problem: String, recovery: String) {
            switch self {
            case .unknownPack(let name):
                ("There is no content named “\(name)”.", "Please update the app, or contact support.")
            case .notEntitled: ("This content isn't part of your purchases.", "Buy it, or restore your purchases.")
            case .needsAppUpdate: ("This content needs a newer version of the app.", "Update the app.")
            case .canceled: ("The download was canceled.", "Download it again.")
            case .refused: ("The server refused the download.", "Please try again later.")
            case .corrupted: ("The downloaded content is damaged.", "Please try again later.")
            case .notInstalled: ("This content hasn't been downloaded.", "Download it.")
            case .missingFile(let path):
                ("The content has no file “\(path)”.", "Please update the app, or contact support.")
            case .storage(let reason):
                ("The content can't be stored: \(reason).", "Free some space on the device, and try again.")
            }
        }
    }
}
