/** What the OpenAPI document says of an operation, held against an answer: its status, and its body to the last field. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { z } from 'zod'
import { api } from '../../src/api/index.ts'
import type { AnyRoute } from '../../src/api/route.ts'
import type { Answer } from './request.ts'

const OPERATIONS = Object.values(api)
  .flatMap((verbs): AnyRoute[] => Object.values(verbs))
  .map((route) => ({ route, pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
  // A path that is written out goes before one that has a parameter in its place.
  .toSorted((one, other) => one.route.path.split('{').length - other.route.path.split('{').length)

/** Fails where the answer is not one that the document tells of; a path that it does not name is not its business. */
export function expectDocumented(method: string, pathname: string, { status, json }: Answer): void {
  const found = OPERATIONS.find(({ route, pattern }) => route.method === method.toLowerCase() && pattern.test(pathname))
  if (found === undefined) return
  const what = `${method} ${found.route.path} answering ${status}`
  const response = found.route.openapi.responses[status]
  const media = response && 'content' in response ? response.content?.['application/json'] : undefined
  const schema = media && 'schema' in media ? media.schema : undefined
  if (!(schema instanceof z.ZodType)) throw new Error(`the document does not tell of ${what}`)
  const { success, data, error } = schema.safeParse(json)
  expect(success ? [] : error.issues, what).toEqual([])
  // A field that no schema names is missing from what was read.
  if (!isDeepStrictEqual(data, json)) expect(json, what).toEqual(data)
}
