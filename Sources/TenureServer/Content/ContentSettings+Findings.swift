import Foundation

/// Checks the folder, the secrets and the catalog of the asset packs.
extension ContentSettings {
    /// The mistakes in the files of these settings.
    var findings: [ServiceError] {
        var findings: [ServiceError] = []
        var isFolder: ObjCBool = false
        if !FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) || !isFolder.boolValue {
            findings.append(
                .content("there is no folder `\(folder)`; create it, and publish there with `tenure content publish`"))
        }
        if let s3 { findings.append(errorOf: { () throws(ServiceError) in _ = try S3Presigner(s3) }) }
        return findings
    }

    /// Returns why customers can't download anything: the catalog is missing, invalid or for another app. The service
    /// starts nevertheless. Nil for a valid catalog, and for a missing folder, which is among `findings`.
    package func catalogProblem(of bundleID: String) -> ServiceError? {
        guard FileManager.default.fileExists(atPath: folder) else { return nil }
        return ContentFolder(path: folder, bundleID: bundleID).failure
    }
}
