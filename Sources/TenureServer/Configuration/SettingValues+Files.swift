import Foundation

extension SettingValues {
    /// The files in the settings, and the files of the keys that the service made.
    ///
    /// The list leaves out databases, the files of each of several apps, and the certificates to trust, which may be
    /// folders.
    package var files: [String] {
        let named = Setting.all.filter { $0.kind == .path && $0.name != Setting.database.name }.compactMap { text($0) }
        let database = isSet(.database) ? text(.database) : nil
        let folder = text(.keys) ?? database.map { ($0 as NSString).deletingLastPathComponent }
        return named + (folder.map { Self.keys(in: $0) } ?? []) + secretFilesOfWebhooks
    }

    /// The files of the keys that a service makes in a folder.
    package static func keys(in folder: String) -> [String] {
        [SigningKeyStore.fileName, AccessTokenKey.fileName].map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
    }
}
