/** The reference page of the API that this source describes, as the build puts it into dist/. */
import { openApiDocument } from '../../src/api/openapi.ts'
import { codeSamples } from './code-samples.ts'
import type { ShownDocument } from './document.ts'
import { referencePage } from './page.ts'

/** The whole page as HTML; `version` is the one of the package. */
export async function builtReferencePage(version: string): Promise<string> {
  return referencePage(openApiDocument() as ShownDocument, version, await codeSamples())
}
