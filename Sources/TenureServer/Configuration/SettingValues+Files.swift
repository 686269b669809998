import Foundation

extension SettingValues {
    /// The files that the settings name, and the keys that the service made. Without databases, the settings of each app,
    /// and the certificates to trust, which may be in folders.
    package var files: [String] {
        let named = Setting.all.filter { $0.kind == .path && $0.name != Setting.database.name }.compactMap { text($0) }
        let folder = text(.keys) ?? ((text(.database) ?? "") as NSString).deletingLastPathComponent
        let keys = [SigningKeyStore.fileName, AccessTokenKey.fileName].map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
        return named + keys + secretFilesOfWebhooks
    }
}
