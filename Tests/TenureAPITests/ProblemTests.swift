import Foundation
import TenureJSON
import Testing

@testable import TenureAPI

@Suite struct `problems in HTTP responses` {
    @Test(arguments: Problem.Code.allCases) func `the JSON of each problem has its code, its HTTP status and a title`(
        code: Problem.Code
    ) throws {
        let problem = Problem(
            code, "it is so", problems: [ArtifactProblem(artifact: "receipt", code: "x", detail: "y")])
        var json = JSONWriter()
        json.value(problem)
        #expect(try JSONDecoder().decode(Problem.self, from: Data(json.bytes)) == problem)
        let read = try #require(JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: Any])
        #expect(read["status"] as? Int == code.status)
        #expect(read["code"] as? String == code.rawValue)
        #expect((read["title"] as? String)?.isEmpty == false)
        #expect((400..<600).contains(code.status))
    }

    @Test func `each code of a problem has its own status and title`() {
        let codes = Problem.Code.allCases.map { "\($0.rawValue) \($0.status) \($0.title)" }
        let expected = [
            "malformedRequest 400 The request is invalid",
            "notAuthenticated 401 A valid access token or key is missing",
            "notBound 403 The proof isn't bound to a device",
            "trialOver 403 The trial is over",
            "forbidden 403 The admin key doesn't permit this request",
            "invalidLink 403 The link is invalid or expired",
            "notEntitled 403 The customer isn't entitled to this content",
            "notFound 404 The requested resource doesn't exist",
            "methodNotAllowed 405 This path doesn't support this method",
            "conflict 409 Stored data doesn't allow this request",
            "preconditionFailed 412 The file's entity tag doesn't match If-Match",
            "tooLarge 413 The request is too large",
            "unsupportedMediaType 415 The request must be JSON",
            "rangeNotSatisfiable 416 The file doesn't have this range",
            "nothingVerified 422 Nothing in the request could be verified",
            "tooManyRequests 429 Too many requests",
            "tooManyUnknownSigners 503 Too many unknown signers",
            "busy 503 The service is busy",
            "misconfigured 503 The service isn't configured for this request",
            "internalError 500 The service failed",
        ]
        #expect(codes == expected)
        #expect(Problem.mediaType == "application/problem+json")
        let relations = [
            "wrongEnvironment", "unrelated", "noTransaction", "personaRefused", "personaUnknown", "personaExpired",
            "personaRevoked",
        ]
        #expect(ArtifactProblem.Relation.allCases.map(\.rawValue) == relations)
    }

    @Test func `the JSON of a problem has the fields that apply to it, without the seconds of Retry-After`() throws {
        func text(_ problem: Problem) -> String {
            var json = JSONWriter()
            json.value(problem)
            return String(decoding: json.bytes, as: UTF8.self)
        }
        let trial = TrialResponse(entitlement: "e", sessions: 3, sessionsLeft: 0)
        let whole = Problem(
            .trialOver, "d", problems: [ArtifactProblem(artifact: "receipt", code: "x", detail: "y")], reason: "r",
            retryAfter: 7, trial: trial, rehearsal: "reh_1")
        let json = """
            {"title":"The trial is over","status":403,"code":"trialOver","detail":"d","reason":"r",\
            "problems":[{"artifact":"receipt","code":"x","detail":"y"}],\
            "trial":{"entitlement":"e","isOwner":false,"sessions":3,"sessionsLeft":0},"rehearsal":"reh_1"}
            """
        #expect(text(whole) == json)
        let read = try JSONDecoder().decode(Problem.self, from: Data(json.utf8))
        #expect(read.code == .trialOver && read.detail == "d" && read.reason == "r")
        #expect(read.problems == whole.problems)
        #expect(read.trial == trial)
        #expect(read.rehearsal == "reh_1")
        #expect(read.retryAfter == nil)
        let short = #"{"title":"The service is busy","status":503,"code":"busy","detail":"d"}"#
        #expect(text(Problem(.busy, "d", retryAfter: 7)) == short)
        #expect(try JSONDecoder().decode(Problem.self, from: Data(short.utf8)) == Problem(.busy, "d"))
    }

    // A later service may have further codes.
    @Test func `a problem with an unknown code is read as an internal error with its message`() throws {
        let json = #"{"title":"New","status":418,"code":"new","detail":"d"}"#
        #expect(try JSONDecoder().decode(Problem.self, from: Data(json.utf8)) == Problem(.internalError, "d"))
    }
}
