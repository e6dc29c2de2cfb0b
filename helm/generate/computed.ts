import { SERVICES, variablePart } from '@restante/contracts/vocabulary'

/** Variables that the templates compute, or that no pod needs. The schema refuses them among the settings. */
export const COMPUTED: ReadonlySet<string> = new Set([
  ...SERVICES.map((service) => `${variablePart(service)}_URL`),
  'API_URL',
  'PORT',
  'HOST',
  'METRICS_PORT',
  'METRICS_HOST',
  'INTERNAL_PORT',
  'INTERNAL_HOST',
  'INTERNAL_ON_PUBLIC_PORT',
  'TRACKING_HTTPS_PORT',
  'TRACKING_HTTP_PORT',
  'AUTH_PORT',
  'SMTP_PORT',
  'SMTP_HOST',
  'SMTP_TLS_CERT',
  'SMTP_TLS_KEY',
  'ROLES',
  'BLOB_STORE',
  'ENGINE_CA_FILE',
  'DKIM_SELECTOR',
  'DKIM_KEY_FILE',
  'DKIM_ED25519_SELECTOR',
  'DKIM_ED25519_KEY_FILE',
  'DOMAIN_CONNECT_KEY_FILE',
])
