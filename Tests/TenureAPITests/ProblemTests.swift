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
}
