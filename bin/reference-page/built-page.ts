/** The reference page of the API that this source describes, as the build puts it into dist/. */
import { readFileSync } from 'node:fs'
import { openApiDocument } from '../../src/api/openapi.ts'
import { codeSamples } from './code-samples.ts'
import type { OperationSamples, ShownDocument } from './document.ts'
import { referencePage } from './page.ts'

/** Holds errors that a service really answered to the requests of the samples; a test compares and writes it. */
export const ERROR_SAMPLES_FILE = new URL('./error-samples.json', import.meta.url)

type ErrorSamples = Record<string, OperationSamples['errors']>

/** The whole page as HTML; `version` is the one of the package. */
export async function builtReferencePage(version: string): Promise<string> {
  const errors = JSON.parse(readFileSync(ERROR_SAMPLES_FILE, 'utf8')) as ErrorSamples
  const samples = [...(await codeSamples())].map(
    ([operation, requests]) => [operation, { requests, errors: errors[operation] ?? {} }] as const,
  )
  return referencePage(openApiDocument() as ShownDocument, version, new Map(samples))
}
