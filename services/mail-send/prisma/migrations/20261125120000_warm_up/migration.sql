-- CreateTable
CREATE TABLE "warm_up_counts" (
    "source" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "recipients" INTEGER NOT NULL,

    CONSTRAINT "warm_up_counts_pkey" PRIMARY KEY ("source","day")
);
