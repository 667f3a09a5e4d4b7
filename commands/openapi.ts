/** `svc openapi`: the API of this version as an OpenAPI document. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Noun, verb } from './cli/command.ts'

export const openApiNoun: Noun = {
  verb: verb({
    about: 'Print the API as an OpenAPI document',
    details: 'The document of this version, as a daemon serves it at /v2/openapi.json. It needs no daemon.',
    examples: ['svc openapi > openapi.json', "svc openapi --jq '.paths | keys'"],
    async run() {
      const here = import.meta.url
      // The build writes the document beside the program; the sources read it from there too.
      const file = fileURLToPath(new URL(here.endsWith('.ts') ? '../dist/openapi.json' : './openapi.json', here))
      const data: unknown = JSON.parse(await readFile(file, 'utf8'))
      return { data, text: JSON.stringify(data, undefined, 2) }
    },
  }),
}
