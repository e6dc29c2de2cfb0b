CREATE TABLE "dmarc_reports" (
    "domain_uid" UUID NOT NULL,
    "reporter" TEXT NOT NULL,
    "authenticated" BOOLEAN NOT NULL,
    "report_id" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "day" DATE NOT NULL,

    CONSTRAINT "dmarc_reports_pkey" PRIMARY KEY ("domain_uid", "reporter", "authenticated", "report_id")
);
CREATE INDEX "dmarc_reports_day_idx" ON "dmarc_reports"("day");
CREATE INDEX "dmarc_reports_organization_id_idx" ON "dmarc_reports"("organization_id");

CREATE TABLE "dmarc_counts" (
    "domain_uid" UUID NOT NULL,
    "day" DATE NOT NULL,
    "reporter" TEXT NOT NULL,
    "authenticated" BOOLEAN NOT NULL,
    "source_ip" TEXT NOT NULL,
    "disposition" TEXT NOT NULL,
    "dkim" TEXT NOT NULL,
    "spf" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "messages" BIGINT NOT NULL,

    CONSTRAINT "dmarc_counts_pkey" PRIMARY KEY ("domain_uid", "day", "reporter", "authenticated", "source_ip", "disposition", "dkim", "spf")
);
CREATE INDEX "dmarc_counts_day_idx" ON "dmarc_counts"("day");
CREATE INDEX "dmarc_counts_organization_id_idx" ON "dmarc_counts"("organization_id");
