#if canImport(Security)
    import Foundation
    import Security

    /// Stores the state in one keychain item. The item survives a reinstallation of the app. It isn't synchronized to
    /// other devices or included in backups.
    struct KeychainStateStorage: StateStorage {
        /// The bundle ID of the app that the state belongs to.
        let name: String
        /// The App Group of the apps and extensions that can read the item. Nil if only the app can.
        let group: String?
        /// The folder of the lock file. For a group, it is in the group's container.
        let folder: URL

        private var query: [CFString: Any] {
            // A query without a group searches all groups of the app. So the shared item has another service name than
            // the private item.
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: group == nil ? "tenure" : "tenure.shared",
                kSecAttrAccount: name,
                // Use this keychain on the Mac, too: the file-based keychain would ask the customer for a password.
                kSecUseDataProtectionKeychain: true,
            ]
            if let group { query[kSecAttrAccessGroup] = group }
            return query
        }

        func read() throws -> Data? {
            var query = query
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var item: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &item)
            switch status {
            case errSecSuccess: return item as? Data ?? Data()
            case errSecItemNotFound: return nil
            default: throw StateStorageError(status, operation: "read")
            }
        }

        func update(_ change: (Data?) throws -> Data) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try InterProcessLock(path: folder.path + "/" + FileStateStorage.lockName).withLock {
                let before = try read()
                let after = try change(before)
                if after != before { try write(after) }
            }
        }

        private func write(_ contents: Data) throws {
            let change: [CFString: Any] = [
                kSecValueData: contents, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, change as CFDictionary)
            if status == errSecItemNotFound { status = SecItemAdd(query.merging(change) { $1 } as CFDictionary, nil) }
            guard status == errSecSuccess else { throw StateStorageError(status, operation: "write") }
        }

        /// Returns an empty key for the HMAC that protects the state against changes. Other apps can't access the
        /// keychain item, so no secret key is needed.
        func secret() throws -> Data { Data() }

        func remove() throws {
            let status = SecItemDelete(query as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw StateStorageError(status, operation: "remove from")
            }
        }
    }

    extension StateStorageError {
        fileprivate init(_ status: OSStatus, operation: String) {
            switch status {
            case errSecInteractionNotAllowed: self = .locked(operation: operation)
            case errSecMissingEntitlement: self = .refused(operation: operation)
            default: self = .failed(operation: operation, status: status)
            }
        }
    }
#endif
