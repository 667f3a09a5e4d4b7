/**
 * Makes the OpenAPI document that the build writes: the contract, with samples of each request for curl, TypeScript
 * and svc.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { api } from '../src/api/index.ts'
import { type DocumentWithRequests, openApiDocument, requestExample } from '../src/api/openapi.ts'
import type { AnyRoute } from '../src/api/route.ts'
import { allVerbs, codeSamples } from './code-samples.ts'
import { ROOT } from './source.ts'

/** Names of the schemas of the document, as often as the sources of the contract define them. */
export function schemaNames(folder = join(ROOT, 'src/api')): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  return files.flatMap((name) =>
    Array.from(readFileSync(join(folder, name), 'utf8').matchAll(/\.openapi\(\s*'(\w+)'/g), ([, found]) => found!),
  )
}

/** The document with `x-codeSamples` in every operation. Throws if two schemas have one name, because one would be lost. */
export async function apiDocument(): Promise<ReturnType<typeof openApiDocument>> {
  const names = schemaNames()
  const twice = names.filter((name, at) => names.indexOf(name) !== at)
  if (twice.length > 0) throw new Error(`src/api gives one name to two schemas: ${twice.join(', ')}`)
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
