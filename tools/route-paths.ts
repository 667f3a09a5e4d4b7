/** Writes `src/api/paths.ts`: what commands and the client know of each route, because routes load a schema library. */
import type { AnyRoute } from '../src/api/route.ts'

export function routePaths(api: Record<string, Record<string, AnyRoute>>): string {
  const nouns = Object.entries(api).map(([noun, routes]) => {
    const verbs = Object.entries(routes).map(([verb, { method, path }]) => `    ${verb}: ['${method}', '${path}'],`)
    return [`  ${noun}: {`, ...verbs, '  },'].join('\n')
  })
  const payable = Object.entries(api).flatMap(([noun, routes]) =>
    Object.entries(routes).flatMap(([verb, { payable }]) =>
      payable === undefined ? [] : [`  '${noun}.${verb}': '${payable}',`],
    ),
  )
  return `/** Method and path of every route without its schemas, for commands and the client; written by \`npm run docs\`. */

export const paths = {
${nouns.join('\n')}
} as const

/** The field with the wallet that pays and signs, for each route that a pay request may name. */
export const payable = {
${payable.join('\n')}
} as const
`
}
