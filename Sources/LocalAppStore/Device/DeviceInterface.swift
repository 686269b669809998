import Foundation
import ServiceLifecycle
import TenureAppStore
import TenureCore
package import TenureJSON
import TenureMint

/// Answers the requests of customers' devices.
package struct DeviceInterface: Sendable {
    let store: LocalAppStore

    package init(store: LocalAppStore) {
        self.store = store
    }

    /// Throws a `DeviceRefusal`.
    package func answer(_ question: DeviceQuestion, _ body: JSONObject) async throws(DeviceRefusal) -> JSONObject {
        do {
            return switch question {
            case .contents: try await contents(Asker(body, store))
            case .changes: try await changes(body)
            case .appTransaction: try await appTransaction(Asker(body, store))
            case .receipt: try await receipt(Asker(body, store))
            case .products: try await products(Asker(body, store))
            case .purchase: try await purchase(Asker(body, store))
            case .finish: try await finish(Asker(body, store))
            case .roots: ["roots": .array(try store.signer.authority.anchors.certificates.map { Self.base64($0.der) })]
            case .now: ["now": .string(await store.world.now.rfc3339)]
            case .acts: try await act(body)
            }
        } catch {
            throw DeviceRefusal(error)
        }
    }

    static func base64(_ bytes: [UInt8]) -> JSONValue {
        .string(String(decoding: Base64.standard.encode(bytes), as: UTF8.self))
    }

    private func contents(_ asker: Asker) async throws -> JSONObject {
        let (change, world) = await store.changedWorld
        return try asker.contents(of: world, at: change, signer: store.signer)
    }

    private func changes(_ body: JSONObject) async throws -> JSONObject {
        let last = body.integer("after") ?? 0
        guard let seconds = body.integer("seconds") else {
            return ["change": .integer(Int64(await store.change(after: last)))]
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = await store.change(after: last) }
            group.addTask { try await Task.sleep(for: .seconds(max(1, min(seconds, 60)))) }
            // A waiting device doesn't delay the end of the store.
            group.addTask { try? await gracefulShutdown() }
            try await group.next()
            group.cancelAll()
            return ["change": .integer(Int64(await store.changeCount))]
        }
    }

    private func appTransaction(_ asker: Asker) async throws -> JSONObject {
        let world = await store.world
        let acquisition = try asker.acquisition(in: world)
        return [
            "appTransaction": .string(
                try store.signer.appTransaction(acquisition, in: world, for: .device(try asker.device)))
        ]
    }

    private func receipt(_ asker: Asker) async throws -> JSONObject {
        let world = await store.world
        let receipt = try store.signer.receipt(
            of: try asker.acquisition(in: world), in: world, device: try asker.device)
        return ["receipt": Self.base64(receipt), "environment": .string(world.environment.rawValue)]
    }

    private func products(_ asker: Asker) async throws -> JSONObject {
        let world = await store.world
        return try asker.products(of: world)
    }

    private func finish(_ asker: Asker) async throws -> JSONObject {
        guard let id = asker.body.text("transaction") else {
            throw DeviceRefusal(.badRequest, "`transaction` must be the ID of a transaction")
        }
        // Finishing a transaction again has no effect.
        if let transaction = await store.world.transaction(id), !transaction.isFinished {
            try await store.perform(Act(.finish, [.transaction: id]))
        }
        return [:]
    }

    private func act(_ body: JSONObject) async throws -> JSONObject {
        guard case .array(let elements)? = body["acts"] else {
            throw DeviceRefusal(.badRequest, "`acts` must be a list of operations")
        }
        var acts: [Act] = []
        for element in elements {
            guard case .object(let object) = element else { throw ActMistake("an operation must be a JSON object") }
            acts.append(try Act(object.naming(body["customer"])))
        }
        try await store.perform(acts)
        return ["now": .string(await store.world.now.rfc3339)]
    }
}

extension JSONObject {
    /// An operation that needs a customer and names none uses the sender.
    fileprivate func naming(_ customer: JSONValue?) -> JSONObject {
        guard self["customer"] == nil, Verb(rawValue: text("act") ?? "")?.isOfCustomer == true else { return self }
        var object = self
        object["customer"] = customer
        return object
    }

    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

    func integer(_ name: String) -> Int? { if case .number(let digits)? = self[name] { Int(digits) } else { nil } }
}
