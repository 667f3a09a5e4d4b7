/**
 * Makes the OpenAPI document that the build writes: the contract, with samples of each request for curl, TypeScript
 * and svc.
 */
import { api } from '../src/api/index.ts'
import { openApiDocument } from '../src/api/openapi.ts'
import { type DocumentWithRequests, requestExample } from '../src/api/request-examples.ts'
import type { AnyRoute } from '../src/api/route.ts'
import { allVerbs, codeSamples } from './code-samples.ts'

/** The document with `x-codeSamples` in every operation. */
export async function apiDocument(): Promise<ReturnType<typeof openApiDocument>> {
  const document = openApiDocument()
  const { paths } = document as unknown as DocumentWithRequests
  const verbs = await allVerbs()
  for (const [noun, routes] of Object.entries(api) as [string, Record<string, AnyRoute>][])
    for (const [verb, route] of Object.entries(routes)) {
      const operation = paths[route.path]?.[route.method]
      if (operation === undefined) throw new Error(`the document has no ${route.method} ${route.path}`)
      Object.assign(operation, {
        'x-codeSamples': codeSamples(`${noun}.${verb}`, route, requestExample(operation), verbs),
      })
    }
  return document
}
