-- The reports of a day are counted before another one is stored.
CREATE INDEX "dmarc_reports_domain_uid_day_idx" ON "dmarc_reports"("domain_uid", "day");
