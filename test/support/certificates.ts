/** Certificates made for a test: an authority, and what it signs. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Why no certificates can be made here; undefined where they can. */
export const withoutOpenssl = (): string | undefined =>
  spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl is not installed'

export interface Certificate {
  /** Files of the certificate and its key. */
  certFile: string
  keyFile: string
  cert: string
  key: string
}

export interface Authority extends Certificate {
  /** Signs a certificate; `san` is its subjectAltName, such as `IP:127.0.0.1`. */
  sign(name: string, san?: string): Certificate
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes an authority whose files stand in `folder`. */
export function makeAuthority(folder: string, name: string): Authority {
  const run = (...args: string[]) => void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const files = (of: string): Certificate => {
    const [certFile, keyFile] = [join(folder, `${of}.pem`), join(folder, `${of}.key`)]
    return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  }
  run('req', '-x509', ...NEW_KEY, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-days', '2', '-subj', `/CN=${name}`)
  return {
    ...files(name),
    sign(subject, san) {
      run('req', ...NEW_KEY, '-keyout', `${subject}.key`, '-out', `${subject}.csr`, '-subj', `/CN=${subject}`)
      writeFileSync(join(folder, `${subject}.ext`), san === undefined ? '' : `subjectAltName=${san}\n`)
      const authority = ['-CA', `${name}.pem`, '-CAkey', `${name}.key`, '-CAcreateserial']
      const request = ['-in', `${subject}.csr`, '-extfile', `${subject}.ext`]
      run('x509', '-req', ...request, ...authority, '-out', `${subject}.pem`, '-days', '2')
      return files(subject)
    },
  }
}
