public import Foundation
public import TenureCore
import TenurePolicyFile

extension Tenure {
    /// Where the app's policy comes from.
    public struct PolicySource: Sendable {
        /// Reads what is on the device.
        let load: @Sendable () throws(TenureError) -> Policy
        /// For a policy that a web server may have a newer one of; `load` is not asked then.
        var feed: (@Sendable (Options) throws(TenureError) -> SignedPolicyFeed)?

        init(load: @escaping @Sendable () throws(TenureError) -> Policy) {
            self.load = load
        }

        /// A file of the app, as `tenure policy compile` writes it.
        public static func bundled(_ name: String, in bundle: Bundle = .main) -> PolicySource {
            let folders = Self.folders(of: bundle)
            return PolicySource { () throws(TenureError) in try Policy.read(try find(name, in: folders)) }
        }

        static func folders(of bundle: Bundle) -> [URL] { [bundle.resourceURL, bundle.bundleURL].compactMap(\.self) }

        static func find(_ name: String, in folders: [URL]) throws(TenureError) -> URL {
            for folder in folders {
                let file = folder.appendingPathComponent(name)
                if FileManager.default.fileExists(atPath: file.path) { return file }
            }
            throw .policy("the app has no file `\(name)`; add it to the app's resources")
        }

        /// A file anywhere.
        public static func file(_ url: URL) -> PolicySource {
            PolicySource { () throws(TenureError) in try Policy.read(url) }
        }

        /// One that the app made itself.
        public static func policy(_ policy: Policy) -> PolicySource {
            PolicySource { () throws(TenureError) in policy }
        }
    }
}

extension Policy {
    /// A compiled policy, from the app's own files.
    fileprivate static func read(_ file: URL) throws(TenureError) -> Policy {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw .policy("`\(file.lastPathComponent)` cannot be opened")
        }
        do throws(PolicyFileError) {
            return try compiled(data, named: file.lastPathComponent)
        } catch {
            throw .policy("\(error)")
        }
    }
}
