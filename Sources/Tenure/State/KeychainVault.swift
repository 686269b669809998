#if canImport(Security)
    package import Foundation
    import Security

    /// One item of the keychain. It outlives a reinstallation, and never leaves this device, not even in a backup.
    package struct KeychainVault: Vault {
        private let account: String
        private static let service = "tenure"

        package init(name: String) {
            account = name
        }

        private var query: [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: Self.service, kSecAttrAccount: account,
            ]
            // On the Mac too: the file-based keychain asks people for a password.
            query[kSecUseDataProtectionKeychain] = true
            return query
        }

        package func read() throws -> Data? {
            var query = query
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var item: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &item)
            switch status {
            case errSecSuccess: return item as? Data ?? Data()
            case errSecItemNotFound: return nil
            default: throw KeychainFailure(act: "read", status: status)
            }
        }

        package func write(_ contents: Data) throws {
            let change: [CFString: Any] = [
                kSecValueData: contents, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, change as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(query.merging(change) { $1 } as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw KeychainFailure(act: "write", status: status) }
        }

        /// The keychain lets in this app alone.
        package func secret() throws -> Data { Data() }
    }

    /// What the keychain said.
    struct KeychainFailure: Error, CustomStringConvertible {
        let description: String

        init(act: String, status: OSStatus) {
            description = "cannot \(act) the keychain (\(status))"
        }
    }
#endif
