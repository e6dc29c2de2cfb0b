-- Keys made with a key of sign-up inherit its mark. Who made a key is in the audit log only; keys that the operator made
-- stay unmarked.
UPDATE "credentials" c SET "sign_up" = true
  FROM "organizations" o
 WHERE o."id" = c."organization_id" AND o."authentication_type" LIKE 'agent_%' AND NOT c."sign_up"
   AND EXISTS (SELECT FROM "audit_entries" a
                WHERE a."credential_id" = c."id" AND a."action" = 'credential.created' AND a."actor_kind" = 'credential');

-- A code exists only together with a mail that carries it.
DELETE FROM "verification_codes" v
 WHERE v."mailed_at" IS NULL AND NOT EXISTS (SELECT FROM "code_mails" m WHERE m."code_id" = v."id");
